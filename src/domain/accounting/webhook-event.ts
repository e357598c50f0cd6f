/** The types of the events that webhooks send. Those of responses are OpenAI's. */
export const webhookEventTypes = [
  'budget.threshold',
  'balance.low',
  'provider.down',
  'provider.up',
  'key.expiring',
  'response.completed',
  'response.failed',
  'response.cancelled',
  'response.incomplete',
] as const

export type WebhookEventType = (typeof webhookEventTypes)[number]

/** The shares of a budget, in percent, at which `budget.threshold` is sent. */
export const budgetThresholds: readonly number[] = [50, 80, 100]
