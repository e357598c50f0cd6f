import { describe, expect, test } from 'bun:test'
import type { Budget, Limits } from '../../src/page/api/objects.ts'
import { budgetParts, budgetText } from '../../src/page/components/budget.ts'
import {
  changedFields,
  type LimitDraft,
  problemOf,
  toDraft,
  toLimitFields,
} from '../../src/page/views/organizations/limits.ts'

const budget: Budget = {
  limit_usd: '10.00',
  spent_usd: '2.50',
  reserved_usd: '0.00',
  held_usd: '1.00',
  allocated_usd: '0.00',
  left_usd: '6.50',
  resets_at: null,
}

const limits: Limits = {
  budget_usd: '10.00',
  budget_period: 'week',
  budget_time_zone: 'Europe/Berlin',
  requests_per_minute: 60,
  tokens_per_minute: null,
  concurrent_requests: null,
  models: ['acme/*'],
  enabled: true,
  budget,
}

describe('the bar of a budget', () => {
  const sharesOf = (changed: Partial<Budget>) =>
    budgetParts({ ...budget, ...changed }).map(({ share }) => share)

  test('has each part with its share of the limit, or of what is used where that is more', () => {
    expect(sharesOf({})).toEqual([0.25, 0, 0.1, 0])
    expect(sharesOf({ spent_usd: '15.00', held_usd: '5.00', left_usd: '-10.00' })).toEqual([0.75, 0, 0.25, 0])
    expect(sharesOf({ limit_usd: '0.00', spent_usd: '0.00', held_usd: '0.00' })).toEqual([0, 0, 0, 0])
  })

  test('is read out with exact amounts, without parts of zero but that which is spent', () => {
    expect(budgetText({ ...budget, held_usd: '0.000000001' })).toBe(
      '$2.50 spent, $0.000000001 held of $10.00; $6.50 left; never reset',
    )
    expect(budgetText({ ...budget, spent_usd: '0.00', held_usd: '0.00', left_usd: '-1.00' })).toBe(
      '$0.00 spent of $10.00; -$1.00 left; never reset',
    )
  })
})

describe('the form of limits', () => {
  const draft = (changed: Partial<LimitDraft>): LimitDraft => ({ ...toDraft(limits), ...changed })

  test('changes nothing while nothing is entered', () => {
    expect(changedFields(limits, toLimitFields(toDraft(limits)) ?? {})).toEqual({})
    expect(toLimitFields(toDraft())).toEqual({
      budget_usd: null,
      budget_period: 'none',
      budget_time_zone: 'UTC',
      requests_per_minute: null,
      tokens_per_minute: null,
      concurrent_requests: null,
      models: null,
      enabled: true,
    })
  })

  test.each<[string, Partial<LimitDraft>, Readonly<Record<string, unknown>>]>([
    ['an amount', { budget: ' 0.000000001 ' }, { budget_usd: '0.000000001' }],
    ['a budget of zero', { budget: '0' }, { budget_usd: '0' }],
    ['no budget', { budget: '' }, { budget_usd: null }],
    ['no rate limit', { requests_per_minute: '' }, { requests_per_minute: null }],
    ['all models', { allModels: true }, { models: null }],
    ['no model', { models: [] }, { models: [] }],
  ])('sends %s', (_, changed, fields) => {
    expect(changedFields(limits, toLimitFields(draft(changed)) ?? {})).toEqual(fields)
  })

  test.each<[Partial<LimitDraft>, Parameters<typeof problemOf>[1]]>([
    [{ budget: '-1' }, 'budget'],
    [{ budget: '1,5' }, 'budget'],
    [{ budget: '0.0000000001' }, 'budget'],
    [{ timeZone: 'Berlin' }, 'timeZone'],
    [{ timeZone: '' }, 'timeZone'],
    [{ requests_per_minute: '0' }, 'requests_per_minute'],
    [{ tokens_per_minute: '1.5' }, 'tokens_per_minute'],
    [{ concurrent_requests: '99999999999999999' }, 'concurrent_requests'],
  ])('rejects %p', (changed, field) => {
    expect(problemOf(draft(changed), field)).toBeString()
    expect(toLimitFields(draft(changed))).toBeUndefined()
  })
})
