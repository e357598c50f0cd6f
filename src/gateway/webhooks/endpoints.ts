import { isIP } from 'node:net'
import type { SettingsProblem } from '../../config/problem.ts'
import type { Settings } from '../../config/settings.ts'
import type { WebhookSettings } from '../../config/webhook-settings.ts'
import { budgetThresholds, webhookEventTypes } from '../../domain/accounting/webhook-event.ts'
import { isPublicAddress } from '../../lib/pinned-fetch.ts'
import { type AlertRules, type EndpointFilter, noAlerts } from '../../storage/ports/webhooks.ts'

/** The problems of `webhooks` in settings whose parts are valid. */
export function webhookProblems({ webhooks }: Pick<Settings, 'webhooks'>): SettingsProblem[] {
  return webhooks.flatMap((endpoint, index) => {
    const isTaken = webhooks.findIndex(({ name }) => name === endpoint.name) < index
    const problem = urlProblem(endpoint)
    return [
      ...(isTaken
        ? [{ path: `webhooks[${index}].name`, message: 'is the name of an earlier endpoint.' }]
        : []),
      ...(problem === undefined ? [] : [{ path: `webhooks[${index}].url`, message: problem }]),
    ]
  })
}

function urlProblem({ url, allow_private: allowPrivate = false }: WebhookSettings): string | undefined {
  const parsed = URL.parse(url)
  if (parsed === null) return 'is not a valid URL.'
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or password.'
  if (allowPrivate) return undefined
  const permit = 'Set allow_private: true if it is meant to be reached.'
  if (parsed.protocol !== 'https:') return `must begin with https://. ${permit}`
  const host = parsed.hostname.replace(/^\[|\]$/g, '')
  return isIP(host) > 0 && !isPublicAddress(host)
    ? `leads to an address that is not on the public internet. ${permit}`
    : undefined
}

/** Which events an endpoint receives. */
export function filterOf({ name, events, organization }: WebhookSettings): EndpointFilter {
  return { name, events: new Set(events ?? webhookEventTypes), organization }
}

/** Where an endpoint is, for the operator: the rest of its URL may be secret. */
export function originOf({ url }: WebhookSettings): string {
  return URL.parse(url)?.origin ?? ''
}

/** Whether an endpoint receives one of these events. */
export function isWanted(webhooks: readonly WebhookSettings[], ...types: readonly string[]): boolean {
  return webhooks.some((endpoint) => types.some((type) => filterOf(endpoint).events.has(type)))
}

/** Which events transactions have to write for these settings. */
export function alertRulesOf({ webhooks, alerts }: Pick<Settings, 'webhooks' | 'alerts'>): AlertRules {
  if (webhooks.length === 0) return noAlerts
  const ends = webhookEventTypes.filter((type) => type.startsWith('response.'))
  return {
    budgetThresholds: isWanted(webhooks, 'budget.threshold') ? budgetThresholds : [],
    lowBalance: isWanted(webhooks, 'balance.low') ? BigInt(Math.round(alerts.lowBalance * 1e9)) : undefined,
    responses: isWanted(webhooks, ...ends),
    keys: isWanted(webhooks, 'key.expiring'),
  }
}
