import { describe, expect, test } from 'bun:test'
import type { ModelDetails } from '../../../src/config/model-details.ts'
import { createModelRegistry } from '../../../src/gateway/models/model-registry.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { modelsWith, providersOf, provider } from './support/model-fixtures.ts'

const routes = [{ provider: 'alpha', model: 'one-id' }]
const later: ModelDetails = {
  slug: 'acme/river',
  pricing: { input: 1, output: 2, cache_read: 0.1 },
  price_changes: [
    { effective_from: '2027-06-01', pricing: { input: 7, output: 8 } },
    { effective_from: '2027-01-01', pricing: { input: 3, output: 4 } },
  ],
  routes,
}
const on = (day: string) => Date.parse(day)

describe('the prices of a model', () => {
  test.each([
    ['2026-12-31T23:59:59.999Z', { input: 1, output: 2, cache_read: 0.1 }, '2027-01-01'],
    ['2027-01-01', { input: 3, output: 4 }, '2027-06-01'],
    ['2027-05-31T23:59:59.999Z', { input: 3, output: 4 }, '2027-06-01'],
    ['2027-06-01', { input: 7, output: 8 }, undefined],
  ])('are those of the latest change before %s', (moment, pricing, next) => {
    const models = modelsWith([later], { now: on(moment) })
    expect(models.find('acme/river')?.pricing).toEqual(pricing)
    expect(models.pricedUntil).toBe(next === undefined ? Number.POSITIVE_INFINITY : on(next))
  })

  test('of the settings do not end on a day of the catalog', () => {
    const pricing = { input: 5, output: 6 }
    const models = modelsWith([{ slug: 'acme/river', pricing }], { catalog: [later], now: on('2028-01-01') })
    expect(models.find('acme/river')?.pricing).toEqual({ ...later.pricing, ...pricing })
    expect(models.pricedUntil).toBe(Number.POSITIVE_INFINITY)
  })

  test('change in a running gateway, and a request that has begun keeps its own', async () => {
    const providers = { ...providersOf(provider('alpha')), problems: [] }
    let now = on('2027-01-01') - 20
    const registry = createModelRegistry({ models: [later] }, providers, silentLog, [], () => now)
    await registry.start()
    const begun = registry.current().find('acme/river')
    now += 40
    const isChanged = async () => registry.current().find('acme/river')?.pricing?.input === 3
    await waitUntil(isChanged, 'the prices of the new year')
    expect(begun?.pricing?.input).toBe(1)
    await registry.stop()
  })
})
