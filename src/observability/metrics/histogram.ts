import { createFamily, type Description, type Family, sample } from './family.ts'

/** How often values of which size were seen. */
export type Histogram = { observe(value: number): void }

/** `bounds` are the upper ends of the buckets, from the smallest. */
export function createHistograms(description: Description, bounds: readonly number[]): Family<Histogram> {
  return createFamily<Counts>(description, {
    type: 'histogram',
    make: () => new Counts(bounds),
    samples: (counts, name, labels) => counts.samples(name, labels),
  })
}

class Counts implements Histogram {
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
    let count = 0
    const buckets = this.counts.map((more, index) => {
      count += more
      return sample(`${name}_bucket`, `${labels}${comma}le="${this.bounds[index] ?? '+Inf'}"`, count)
    })
    return [...buckets, sample(`${name}_sum`, labels, this.sum), sample(`${name}_count`, labels, count)]
  }
}
