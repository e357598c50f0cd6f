import { type Description, sample } from './family.ts'

/** A metric that is read when it is asked for. */
export type Reading = Description & {
  readonly type: 'counter' | 'gauge'
  /** The values with their labels, as they are written: `kind="calls"`. */
  read(): readonly (readonly [labels: string, value: number])[]
}

/** The metrics as Prometheus reads them; without those that have no value at the moment. */
export function renderReadings(readings: readonly Reading[]): string {
  return readings.map(renderReading).join('')
}

function renderReading({ name, help, type, read }: Reading): string {
  const values = read()
  if (values.length === 0) return ''
  const lines = values.map(([labels, value]) => sample(name, labels, value))
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}
