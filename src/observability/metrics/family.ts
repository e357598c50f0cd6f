/** A metric with all its series, one for each combination of label values. */
export type Family<Series> = {
  /** The series with these label values, in the order of the labels; an empty one is left out. */
  at(...values: readonly string[]): Series
  /** The metric as Prometheus reads it; empty while it has no series. */
  render(): string
}

export type Description = {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/** What a metric of one type is made of. */
export type SeriesType<Series> = {
  readonly type: 'counter' | 'gauge' | 'histogram'
  make(): Series
  /** The samples of one series: lines without an end. */
  samples(series: Series, name: string, labels: string): readonly string[]
}

/** Models come and go with discovery; the counts of what is beyond this are kept as those of `other`. */
const mostSeries = 2000

export function createFamily<Series>(
  { name, help, labels = [] }: Description,
  { type, make, samples }: SeriesType<Series>,
  most = mostSeries,
): Family<Series> {
  const known = new Map<string, Series>()
  const other = labels.map(() => 'other')

  function at(...values: readonly string[]): Series {
    const key = values.join('\n')
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= most && !values.every((value) => value === 'other')) return at(...other)
    const fresh = make()
    known.set(key, fresh)
    return fresh
  }

  function render(): string {
    if (known.size === 0) return ''
    const lines = [...known].flatMap(([key, series]) =>
      samples(series, name, labelText(labels, key.split('\n'))),
    )
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
  }

  return { at, render }
}

function labelText(names: readonly string[], values: readonly string[]): string {
  return labelled(Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])))
}

/** `provider="acme",outcome="ok"`; an empty one is left out. */
export function labelled(labels: Readonly<Record<string, string>>): string {
  const told = Object.entries(labels).filter(([, value]) => value !== '')
  return told.map(([name, value]) => `${name}="${escaped(value)}"`).join()
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

/** `name{labels} value`. */
export function sample(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`
}
