import { type Static, Type } from 'typebox'
import type { CatalogUpdate } from './catalog-update.ts'
import { ModelDetails } from './model-details.ts'
import { Breaker, ProviderSettings, Retries } from './provider-settings.ts'
import { Alerts, maxWebhooks, webhookExample, WebhookSettings } from './webhook-settings.ts'
import { closed, count, databaseUrl, duration, flag, optional, size, text, group } from './setting-types.ts'

const Limits = group('The rate limits of each organization that has none of its own (`weir orgs set`).', {
  requests_per_minute: count('Requests in a minute.', 600),
  tokens_per_minute: count('Tokens in a minute, prompt and output together.', 1_000_000),
  concurrent_requests: count('Requests that are open at the same time.', 100),
})

const kept = (what: string) =>
  duration(`How long ${what} are kept; without it, until they are deleted.`, '30d')

const Retention = group('When stored data is deleted.', {
  completions: kept('stored chat completions'),
  responses: kept('stored responses'),
  usage: kept('the usage records of `weir usage`'),
  content_log: duration(
    'How long the content of requests is kept, of API keys with a content log; at most as long as their usage records.',
    '24h',
  ),
  audit: duration('How long the entries of the audit log are kept; without it, always.', '400d'),
})

const Background = group('Responses with `background: true`.', {
  concurrency: count(
    'Runs in progress in one process; organizations take turns, and the last quarter is left to those without one.',
    16,
  ),
  max_queued: count('Queued runs of one organization; a further one gets 429.', 100),
})

const Compatibility = group('Details of the API in which clients differ.', {
  open_responses: flag(
    'Responses show effective values where the request has none: `temperature` 1, `top_p` 1, `truncation` disabled.',
  ),
  function_tools: flag(
    'The Responses API accepts `tools`: functions, custom tools and namespaces. Otherwise a request with tools is rejected.',
  ),
  logprobs: flag(
    'Chat completions return the log probabilities that the provider has. Otherwise `logprobs` is always null.',
  ),
  tool_call_fragments: flag(
    'Streams send the arguments of tool calls in fragments, as OpenAI does, instead of whole.',
  ),
  cache_write_tokens: flag(
    'Token counts have `cache_write_tokens`: what the provider wrote to its cache. Newer SDKs of OpenAI expect it.',
  ),
})

/** An `Origin` header of a browser, or `*` for any. */
const Origin = Type.String({
  pattern: '^(\\*|null|[a-z][a-z0-9+.-]*://[^/\\s]+)$',
  expected: 'an origin such as https://app.example.com (without a path or trailing slash), or *',
  examples: ['https://app.example.com'],
})

const Tls = Type.Object(
  {
    cert: text('The certificate chain.', 'cert.pem'),
    key: text('The private key, without a passphrase.', 'key.pem'),
  },
  {
    ...closed,
    description:
      'Serves HTTPS with these PEM files. Relative paths begin at the folder of the settings file.',
  },
)

/** The value of `database`. */
export const DatabaseUrl = databaseUrl(
  'The PostgreSQL database in which everything is stored, instead of the SQLite file in the data folder.',
  'postgres://weir:PASSWORD@db.example.com/weir',
)

/** The most worker processes of one server. */
export const maxWorkers = 256

/** The content of weir.yaml. */
export type SettingsFile = Static<typeof SettingsFile>
export const SettingsFile = Type.Object(
  optional({
    host: text('The address to listen on; `0.0.0.0` for every interface.', '0.0.0.0'),
    port: Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: 'The port to listen on; `0` picks a free one.',
      examples: [8080],
    }),
    workers: Type.Integer({
      minimum: 0,
      maximum: maxWorkers,
      description:
        'The processes that serve the port together; `0` starts one for each core. More than one requires PostgreSQL (`database`) and Linux; without them, `0` is one.',
      examples: [4],
    }),
    database: DatabaseUrl,
    providers: Type.Record(Type.String(), ProviderSettings, {
      description:
        'The providers by name. A kind whose key variable is set needs no entry; an entry named after a kind needs no `kind`.',
      examples: [{ openai: {} }],
    }),
    models: Type.Array(ModelDetails, {
      description:
        'Models by slug: for one of the built-in catalog only what differs, for any other one also its `routes`.',
    }),
    retries: Retries,
    breaker: Breaker,
    limits: Limits,
    unsupported_parameters: Type.Enum(['reject', 'drop'], {
      description:
        'What happens to a parameter that the model does not support: `reject` returns 400, `drop` ignores it with a warning in the response.',
      examples: ['drop'],
    }),
    retention: Retention,
    background: Background,
    compatibility: Compatibility,
    user_hash_key: Type.String({
      minLength: 16,
      private: true,
      expected: 'a string of at least 16 characters',
      description:
        'A secret. With it, the users of requests are recorded as keyed hashes (HMAC-SHA256), so that the reports do not name them; the same key gives the same hashes.',
      examples: ['a long secret of your own'],
    }),
    log: Type.Enum(['requests', 'errors', 'off'], {
      description: 'Which requests are logged on standard output: all, those that failed, or none.',
      examples: ['errors'],
    }),
    memory: Type.Object(
      {
        in_flight: Type.Optional(
          size(
            'Bytes of all bodies, conversations and pages in one process, half for one organization; beyond it requests get 503.',
            '1GiB',
          ),
        ),
      },
      { ...closed, description: 'The memory that requests may use.' },
    ),
    max_body: size('The largest request body; a larger one gets 413.', '64MiB'),
    cors: Type.Array(Origin, {
      description: 'The origins from which browsers may call the API; none by default.',
    }),
    page: flag('Whether `GET /` is a page for browsers, with a playground, the models and the usage.', false),
    tls: Tls,
    webhooks: Type.Array(WebhookSettings, {
      maxItems: maxWebhooks,
      description: 'The endpoints to which events are sent, signed according to Standard Webhooks.',
      examples: [[webhookExample]],
    }),
    alerts: Alerts,
  }),
  closed,
)

/** The settings with defaults; durations in milliseconds, sizes in bytes. */
export type Settings = {
  readonly host: string
  readonly port: number
  /** The number of worker processes; 0: one for each core. */
  readonly workers: number
  /** The URL of the PostgreSQL database, which is secret; absent: the SQLite file in the data folder. */
  readonly database?: string
  /** As in the file; `kind` defaults to the name of the provider. */
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly models: readonly ModelDetails[]
  /** The changes of the built-in catalog, from the data folder. */
  readonly catalog?: CatalogUpdate
  readonly retries: { readonly attempts: number }
  readonly breaker: { readonly failures: number; readonly cooldown: number }
  readonly limits: {
    readonly requestsPerMinute: number
    readonly tokensPerMinute: number
    readonly concurrentRequests: number
  }
  readonly unsupportedParameters: 'reject' | 'drop'
  /** Milliseconds after which stored objects and records are deleted; absent: never. */
  readonly retention: {
    readonly completions?: number
    readonly responses?: number
    readonly usage?: number
    readonly contentLog: number
    readonly audit?: number
  }
  /** The maximum of concurrent background runs, and of queued ones per organization. */
  readonly background: { readonly concurrency: number; readonly maxQueued: number }
  readonly compatibility: {
    readonly openResponses: boolean
    readonly functionTools: boolean
    readonly toolCallFragments: boolean
    readonly logprobs: boolean
    readonly cacheWriteTokens: boolean
  }
  /** Secret; absent: users are recorded as they are. */
  readonly userHashKey?: string
  readonly log: 'requests' | 'errors' | 'off'
  /** The maximum of bytes that the bodies, conversations and pages of all requests hold together. */
  readonly memory: { readonly inFlight: number }
  readonly maxBody: number
  readonly cors: readonly string[]
  readonly page: boolean
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly webhooks: readonly WebhookSettings[]
  /** In USD. */
  readonly alerts: { readonly lowBalance: number }
}
