import { expect, test } from 'bun:test'
import {
  createCounters,
  createFamily,
  createHistograms,
  seriesName,
} from '../../../src/observability/metrics/prometheus.ts'

test('a counter is rendered with its help, its type and a line for each series', () => {
  const counters = createCounters({ name: 'things_total', help: 'Things.', labels: ['kind', 'size'] })
  counters.withLabels('a', 'big').value += 2
  counters.withLabels('b', '').value++
  counters.withLabels('a', 'big').value++
  expect(counters.render()).toBe(
    [
      '# HELP things_total Things.',
      '# TYPE things_total counter',
      'things_total{kind="a",size="big"} 3',
      'things_total{kind="b"} 1',
      '',
    ].join('\n'),
  )
})

test('a metric without a series is not rendered', () => {
  expect(createCounters({ name: 'things_total', help: 'Things.' }).render()).toBe('')
})

test('a histogram bucket counts all values up to its bound', () => {
  const sizes = createHistograms({ name: 'sizes', help: 'Sizes.' }, [1, 2, 5])
  for (const value of [0.5, 1, 1.5, 5, 100]) sizes.withLabels().observe(value)
  expect(sizes.render().split('\n').slice(2, -1)).toEqual([
    'sizes_bucket{le="1"} 2',
    'sizes_bucket{le="2"} 3',
    'sizes_bucket{le="5"} 4',
    'sizes_bucket{le="+Inf"} 5',
    'sizes_sum 108',
    'sizes_count 5',
  ])
})

test('label values cannot escape their quotes', () => {
  const counters = createCounters({ name: 'things_total', help: 'Things.', labels: ['kind'] })
  counters.withLabels('a"} 1\\').value++
  expect(counters.render()).toContain('things_total{kind="a\\"} 1\\\\"} 1\n')
})

test('new series beyond the limit are counted as one', () => {
  const family = createFamily(
    { name: 'things', help: 'Things.', labels: ['kind', 'size'] },
    {
      type: 'gauge',
      create: () => ({ value: 0 }),
      samples: ({ value }, name, labels) => [[seriesName(name, labels), value]],
    },
    2,
  )
  for (const kind of ['a', 'b', 'c', 'd', 'a']) family.withLabels(kind, 'big').value++
  expect(family.render().split('\n').slice(2, -1)).toEqual([
    'things{kind="a",size="big"} 2',
    'things{kind="b",size="big"} 1',
    'things{kind="other",size="other"} 2',
  ])
})
