/** A metric with one series for each combination of label values, in the text format of Prometheus. */
export type Family<Series> = DescribedMetric & {
  /** Returns the series with these label values, in the order of the labels; empty values are not rendered. */
  withLabels(...values: readonly string[]): Series
  /** Returns an empty string while the family has no series. */
  render(): string
}

/** The name, help text and label names of a metric. */
export type Description = {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/** A metric as documentation describes it. */
export type DescribedMetric = Description & { readonly type: 'counter' | 'gauge' | 'histogram' }

/** How the series of one metric type are created and rendered. */
export type SeriesType<Series> = {
  readonly type: DescribedMetric['type']
  create(): Series
  /** Returns one line for each sample, without line ends. */
  samples(series: Series, name: string, labels: string): readonly string[]
}

/** A sum that only grows. */
export type Counter = { value: number }

/** Counts observed values in buckets. */
export type Histogram = { observe(value: number): void }

/** A metric whose values are read at each scrape. */
export type ScrapedMetric = Description & {
  readonly type: 'counter' | 'gauge'
  /** Returns the values with their formatted labels, such as `kind="calls"`. */
  read(): readonly (readonly [labels: string, value: number])[]
}

/** Discovery adds and removes models without end: series beyond this number are counted under the label `other`. */
const defaultMaxSeries = 2000

/** Creates a family that holds at most `maxSeries` series. */
export function createFamily<Series>(
  { name, help, labels = [] }: Description,
  { type, create, samples }: SeriesType<Series>,
  maxSeries = defaultMaxSeries,
): Family<Series> {
  const seriesByKey = new Map<string, Series>()
  const other = labels.map(() => 'other')

  function withLabels(...values: readonly string[]): Series {
    const key = values.join('\n')
    const existing = seriesByKey.get(key)
    if (existing !== undefined) return existing
    if (seriesByKey.size >= maxSeries && !values.every((value) => value === 'other'))
      return withLabels(...other)
    const series = create()
    seriesByKey.set(key, series)
    return series
  }

  function render(): string {
    const lines = [...seriesByKey].flatMap(([key, series]) =>
      samples(series, name, formatLabelValues(labels, key.split('\n'))),
    )
    return formatMetric(name, help, type, lines)
  }

  return { name, help, labels, type, withLabels, render }
}

/** Creates a family of counters. */
export function createCounters(description: Description): Family<Counter> {
  return createFamily<Counter>(description, {
    type: 'counter',
    create: () => ({ value: 0 }),
    samples: ({ value }, name, labels) => [formatSample(name, labels, value)],
  })
}

/** Creates a family of histograms. `bounds` are the upper bounds of the buckets, in ascending order. */
export function createHistograms(description: Description, bounds: readonly number[]): Family<Histogram> {
  return createFamily<BucketHistogram>(description, {
    type: 'histogram',
    create: () => new BucketHistogram(bounds),
    samples: (histogram, name, labels) => histogram.samples(name, labels),
  })
}

class BucketHistogram implements Histogram {
  private readonly bounds: readonly number[]
  private readonly counts: number[]
  private sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    const { bounds, counts } = this
    let index = 0
    while (index < bounds.length && value > (bounds[index] ?? 0)) index++
    counts[index] = (counts[index] ?? 0) + 1
    this.sum += value
  }

  samples(name: string, labels: string): string[] {
    const comma = labels === '' ? '' : ','
    let total = 0
    const buckets = this.counts.map((count, index) => {
      total += count
      return formatSample(`${name}_bucket`, `${labels}${comma}le="${this.bounds[index] ?? '+Inf'}"`, total)
    })
    return [
      ...buckets,
      formatSample(`${name}_sum`, labels, this.sum),
      formatSample(`${name}_count`, labels, total),
    ]
  }
}

/** Renders scraped metrics; those without a value are not rendered. */
export function renderScraped(metrics: readonly ScrapedMetric[]): string {
  return metrics
    .map(({ name, help, type, read }) => {
      const lines = read().map(([labels, value]) => formatSample(name, labels, value))
      return formatMetric(name, help, type, lines)
    })
    .join('')
}

function formatMetric(name: string, help: string, type: string, samples: readonly string[]): string {
  if (samples.length === 0) return ''
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join('\n')}\n`
}

function formatLabelValues(names: readonly string[], values: readonly string[]): string {
  return formatLabels(Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])))
}

/** Formats labels as `provider="acme",outcome="ok"`, without those whose value is empty. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  const nonEmpty = Object.entries(labels).filter(([, value]) => value !== '')
  return nonEmpty.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`).join()
}

function escapeLabelValue(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}

/** Formats a sample as `name{labels} value`. */
export function formatSample(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${value}` : `${name}{${labels}} ${value}`
}
