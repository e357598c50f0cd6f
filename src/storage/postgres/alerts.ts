import type { WebhookEventType } from '../../domain/accounting/webhook-event.ts'
import type { AlertRules } from '../ports/webhooks.ts'
import type { Parameters } from './writer/statement.ts'

/**
 * Returns a part of a statement that writes an event for webhooks for each row of `source`, which has the columns
 * `organization_id` and `data`, a JSON object.
 */
export function eventsOf(
  parameters: Parameters,
  type: WebhookEventType,
  source: string,
  now: number,
): string {
  const time = parameters.add(now.toString(16).padStart(12, '0'))
  return `INSERT INTO webhook_events (id, organization_id, type, created_at, data)
    SELECT 'evt_' || ${time} || substr(replace(gen_random_uuid()::text, '-', ''), 13), organization_id,
      '${type}', ${parameters.add(now)}, data::text FROM (${source}) events`
}

/** The parts of a statement that write an event for each balance that `charges` takes to the threshold, or below it. */
export function lowBalances(
  parameters: Parameters,
  { lowBalance }: AlertRules,
  now: number,
): readonly string[] {
  if (lowBalance === undefined) return []
  const low = `${parameters.add(String(lowBalance))}::bigint`
  const source = `SELECT o.id organization_id,
      json_build_object('balance', (o.balance - s.charged)::text, 'threshold', (${low})::text) data
    FROM (SELECT organization_id, sum(charged) charged FROM charges GROUP BY 1) s
    JOIN organizations o ON o.id = s.organization_id
    WHERE o.balance > ${low} AND o.balance - s.charged <= ${low}`
  return [`low_balances AS (${eventsOf(parameters, 'balance.low', source, now)})`]
}
