import { type Static, Type } from 'typebox'
import { webhookEventTypes } from '../domain/accounting/webhook-event.ts'
import { closed, flag, group, text, url } from './setting-types.ts'

function secret(description: string) {
  return Type.String({
    pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
    expected: 'whsec_ and 24 to 64 bytes in base64',
    examples: ['whsec_bm90LWEtc2VjcmV0LW1ha2UteW91ci1vd24='],
    description,
    private: true,
  })
}

/** An entry of `webhooks` in weir.yaml. */
export type WebhookSettings = Static<typeof WebhookSettings>
export const WebhookSettings = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
      expected: 'a name of lower-case letters, digits, - and _, of at most 64 characters',
      description: 'The name of the endpoint, on the page and on the command line.',
      examples: ['alerts'],
    }),
    url: url(
      'Where events are posted. https:// and a public address, unless `allow_private` is set.',
      'https://example.com/hooks/weir',
    ),
    secret: secret(
      'The secret with which the events are signed: `whsec_` and 24 to 64 random bytes in base64.',
    ),
    previous_secret: Type.Optional(
      secret('The previous secret, with which they are signed as well, until the endpoint has the new one.'),
    ),
    events: Type.Optional(
      Type.Array(Type.Enum(webhookEventTypes, { expected: 'the type of an event' }), {
        minItems: 1,
        description: 'The events that are sent; all by default.',
        examples: [['budget.threshold', 'balance.low', 'provider.down', 'provider.up']],
      }),
    ),
    organization: Type.Optional(
      text(
        'The name or the ID of the only organization whose events are sent; by default those of all.',
        'acme',
      ),
    ),
    allow_private: Type.Optional(
      flag(
        'Whether the URL may begin with http://, and lead to an address that is not on the public internet.',
      ),
    ),
  },
  // A secret in place of the entry is not shown.
  { ...closed, private: true },
)

/** An entry with all settings. */
export const webhookExample: WebhookSettings = {
  name: 'alerts',
  url: 'https://example.com/hooks/weir',
  secret: 'whsec_bm90LWEtc2VjcmV0LW1ha2UteW91ci1vd24=',
  previous_secret: 'whsec_bm90LWEtc2VjcmV0LW1ha2UteW91ci1vd24=',
  events: ['budget.threshold', 'balance.low'],
  organization: 'acme',
  allow_private: false,
}

/** The maximum number of endpoints. */
export const maxWebhooks = 32

/** When there is an alert. */
export const Alerts = group('When events for `webhooks` are sent.', {
  low_balance: Type.Number({
    minimum: 0,
    maximum: 1_000_000,
    description: 'The balance of a prepaid organization, in USD, at which `balance.low` is sent.',
    examples: [5],
  }),
})
