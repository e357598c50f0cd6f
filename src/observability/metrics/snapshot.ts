/** A series, such as `weir_in_flight{kind="calls"}`, and its value. */
export type Sample = readonly [series: string, value: number]

/** The value of a gauge for several processes: their sum, or the largest or smallest of their values. */
export type Aggregation = 'sum' | 'max' | 'min'

/** A metric with its values at one moment; plain data, which can be sent to another process. */
export type MetricSnapshot = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly aggregation: Aggregation
  readonly samples: readonly Sample[]
}

/** Renders metrics in the text format of Prometheus; those without a value are not rendered. */
export function renderSnapshots(snapshots: readonly MetricSnapshot[]): string {
  return snapshots
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(([series, value]) => `${series} ${value}`)
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
    })
    .join('')
}

/** Combines the metrics of several processes into those of all: counters and histograms are added up. */
export function mergeSnapshots(processes: readonly (readonly MetricSnapshot[])[]): readonly MetricSnapshot[] {
  const byName = new Map<string, MetricSnapshot[]>()
  for (const snapshot of processes.flat())
    byName.set(snapshot.name, [...(byName.get(snapshot.name) ?? []), snapshot])
  return [...byName.values()].map(mergeMetric)
}

/** Returns the metrics that only grow: what a process counted stays counted when it has ended. */
export function cumulative(snapshots: readonly MetricSnapshot[]): readonly MetricSnapshot[] {
  return snapshots.filter(({ type }) => type !== 'gauge')
}

function mergeMetric(snapshots: readonly MetricSnapshot[]): MetricSnapshot {
  const [first] = snapshots
  if (first === undefined) throw new Error('There is no metric to merge.')
  const combine = combinations[first.aggregation]
  const values = new Map<string, number>()
  for (const [series, value] of snapshots.flatMap(({ samples }) => samples)) {
    const earlier = values.get(series)
    values.set(series, earlier === undefined ? value : combine(earlier, value))
  }
  return { ...first, samples: [...values] }
}

const combinations: Readonly<Record<Aggregation, (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  max: Math.max,
  min: Math.min,
}
