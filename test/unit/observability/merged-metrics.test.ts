import { expect, test } from 'bun:test'
import {
  createCounters,
  createHistograms,
  readScraped,
} from '../../../src/observability/metrics/prometheus.ts'
import { cumulative, mergeSnapshots, renderSnapshots } from '../../../src/observability/metrics/snapshot.ts'

/** The metrics of a process that has counted `count` things, the last of them `size`. */
function processWith(count: number, size: number, open: number) {
  const counters = createCounters({ name: 'things_total', help: 'Things.', labels: ['kind'] })
  counters.withLabels('a').value += count
  const sizes = createHistograms({ name: 'sizes', help: 'Sizes.' }, [1, 2])
  sizes.withLabels().observe(size)
  const gauges = readScraped([
    { name: 'open', help: 'Open.', type: 'gauge', read: () => [['', open]] },
    { name: 'largest', help: 'Largest.', type: 'gauge', aggregation: 'max', read: () => [['', open]] },
    { name: 'oldest', help: 'Oldest.', type: 'gauge', aggregation: 'min', read: () => [['', open]] },
  ])
  return [counters.snapshot(), sizes.snapshot(), ...gauges]
}

test('counters, histograms and gauges of several processes become one text', () => {
  const merged = mergeSnapshots([processWith(3, 1, 5), processWith(4, 9, 2)])
  expect(renderSnapshots(merged)).toBe(
    `# HELP things_total Things.
# TYPE things_total counter
things_total{kind="a"} 7
# HELP sizes Sizes.
# TYPE sizes histogram
sizes_bucket{le="1"} 1
sizes_bucket{le="2"} 1
sizes_bucket{le="+Inf"} 2
sizes_sum 10
sizes_count 2
# HELP open Open.
# TYPE open gauge
open 7
# HELP largest Largest.
# TYPE largest gauge
largest 5
# HELP oldest Oldest.
# TYPE oldest gauge
oldest 2
`,
  )
})

test('a series that only one process has is kept, and a metric without series is not rendered', () => {
  const counters = (kind: string) => {
    const family = createCounters({ name: 'things_total', help: 'Things.', labels: ['kind'] })
    if (kind !== '') family.withLabels(kind).value++
    return [family.snapshot()]
  }
  expect(
    renderSnapshots(mergeSnapshots([counters('a'), counters('b')]))
      .split('\n')
      .slice(2, -1),
  ).toEqual(['things_total{kind="a"} 1', 'things_total{kind="b"} 1'])
  expect(renderSnapshots(mergeSnapshots([counters(''), counters('')]))).toBe('')
})

test('the counts of a process that has ended remain, and its gauges do not', () => {
  const ended = cumulative(processWith(3, 1, 5))
  expect(ended.map(({ name }) => name)).toEqual(['things_total', 'sizes'])
})

test('metrics stay the same on their way to another process', () => {
  const metrics = processWith(3, 1, 5)
  expect(JSON.parse(JSON.stringify(metrics))).toEqual(metrics)
})
