import { type Static, Type } from 'typebox'
import { ModelFacts } from './model-facts.ts'

/** Above zero: no setting allows `0s`. */
const Duration = Type.String({
  pattern: '^(?=.*[1-9])\\d+(\\.\\d+)?(ms|s|m|h|d)$',
  description: 'a duration such as 30s, 5m, 24h or 30d',
  examples: ['30s'],
})
const Size = Type.Union(
  [
    Type.Integer({ minimum: 1 }),
    Type.String({ pattern: '^(?=.*[1-9])\\d+(\\.\\d+)?(B|KiB|MiB|GiB|kB|MB|GB)$' }),
  ],
  { description: 'a size such as 32MiB, 500kB or a number of bytes', examples: ['32MiB'] },
)
const Text = Type.String({ minLength: 1, description: 'a text' })
const Url = Type.String({
  pattern: '^https?://[^/\\s]',
  description: 'an address that begins with http:// or https://',
  examples: ['http://10.0.0.5:8000/v1'],
  // It may contain a password, so messages do not show it.
  private: true,
})
/** An `Origin` header of a browser, or `*` for any. */
const Origin = Type.String({
  pattern: '^(\\*|null|[a-z][a-z0-9+.-]*://[^/\\s]+)$',
  description: 'an origin such as https://app.example.com (no path, no slash at the end), or *',
  examples: ['https://app.example.com'],
})
const closed = { additionalProperties: false } as const

/** An entry of `providers` in weir.yaml. */
export type ProviderSettings = Static<typeof ProviderSettings>
const ProviderSettings = Type.Object(
  {
    kind: Type.Optional(Text),
    base_url: Type.Optional(Url),
    api_key: Type.Optional(Text),
    /** `responses`: use the Responses API of the provider. */
    api: Type.Optional(Type.Enum(['chat', 'responses'])),
    /** Azure: the api-version of the older URL forms. */
    api_version: Type.Optional(Text),
    /** Vertex: the project and location, and the file of a service account. */
    project: Type.Optional(Text),
    location: Type.Optional(Text),
    credentials: Type.Optional(Text),
    headers: Type.Optional(Type.Record(Type.String(), Type.String(), { examples: [{ 'x-team': 'blue' }] })),
    discover: Type.Optional(Type.Boolean()),
    timeouts: Type.Optional(
      Type.Object(
        {
          connect: Type.Optional(Duration),
          first_byte: Type.Optional(Duration),
          idle: Type.Optional(Duration),
        },
        closed,
      ),
    ),
  },
  closed,
)

/** The content of weir.yaml. */
export type SettingsFile = Static<typeof SettingsFile>
export const SettingsFile = Type.Object(
  {
    host: Type.Optional(Text),
    port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
    providers: Type.Optional(Type.Record(Type.String(), ProviderSettings, { examples: [{ openai: {} }] })),
    models: Type.Optional(Type.Array(ModelFacts)),
    retries: Type.Optional(
      Type.Object({ attempts: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })) }, closed),
    ),
    breaker: Type.Optional(
      Type.Object(
        { failures: Type.Optional(Type.Integer({ minimum: 1 })), cooldown: Type.Optional(Duration) },
        closed,
      ),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          requests_per_minute: Type.Optional(Type.Integer({ minimum: 1 })),
          tokens_per_minute: Type.Optional(Type.Integer({ minimum: 1 })),
          concurrent_requests: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        closed,
      ),
    ),
    unsupported_parameters: Type.Optional(Type.Enum(['reject', 'drop'])),
    retention: Type.Optional(
      Type.Object(
        {
          completions: Type.Optional(Duration),
          responses: Type.Optional(Duration),
          usage: Type.Optional(Duration),
        },
        closed,
      ),
    ),
    background: Type.Optional(
      Type.Object(
        {
          concurrency: Type.Optional(Type.Integer({ minimum: 1 })),
          max_queued: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        closed,
      ),
    ),
    compatibility: Type.Optional(
      Type.Object(
        {
          open_responses: Type.Optional(Type.Boolean()),
          function_tools: Type.Optional(Type.Boolean()),
          tool_call_fragments: Type.Optional(Type.Boolean()),
          logprobs: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
    ),
    /** Which requests are logged on standard output. */
    log: Type.Optional(Type.Enum(['requests', 'errors', 'off'])),
    /** The limit for all requests in flight together. */
    memory: Type.Optional(Type.Object({ in_flight: Type.Optional(Size) }, closed)),
    max_body: Type.Optional(Size),
    cors: Type.Optional(Type.Array(Origin)),
    tls: Type.Optional(
      Type.Object({ cert: Text, key: Text }, { ...closed, examples: [{ cert: 'cert.pem', key: 'key.pem' }] }),
    ),
  },
  closed,
)

/** The settings with defaults; durations in milliseconds, sizes in bytes. */
export type Settings = {
  readonly host: string
  readonly port: number
  /** As in the file; `kind` defaults to the name of the provider. */
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly models: readonly ModelFacts[]
  readonly retries: { readonly attempts: number }
  readonly breaker: { readonly failures: number; readonly cooldown: number }
  readonly limits: {
    readonly requestsPerMinute: number
    readonly tokensPerMinute: number
    readonly concurrentRequests: number
  }
  readonly unsupportedParameters: 'reject' | 'drop'
  /** Milliseconds after which stored objects and usage records are deleted; absent: never. */
  readonly retention: {
    readonly completions?: number
    readonly responses?: number
    readonly usage?: number
  }
  /** The maximum of concurrent background runs, and of queued ones per organization. */
  readonly background: { readonly concurrency: number; readonly maxQueued: number }
  readonly compatibility: {
    readonly openResponses: boolean
    readonly functionTools: boolean
    readonly toolCallFragments: boolean
    readonly logprobs: boolean
  }
  readonly log: 'requests' | 'errors' | 'off'
  /** The maximum of bytes that the bodies, conversations and pages of all requests hold together. */
  readonly memory: { readonly inFlight: number }
  readonly maxBody: number
  readonly cors: readonly string[]
  readonly tls?: { readonly cert: string; readonly key: string }
}
