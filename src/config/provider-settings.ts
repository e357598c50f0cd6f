import { type Static, Type } from 'typebox'
import { closed, count, duration, flag, optional, text, url, group } from './setting-types.ts'

const Timeouts = group('How long the gateway waits for this provider.', {
  connect: duration('Until the connection is established. At most 24h.'),
  first_byte: duration(
    'Until the first event of a stream, or until the whole of an answer that is not streamed. At most 24h.',
    '10m',
  ),
  idle: duration('Between two pieces of a stream. At most 24h.', '5m'),
})

const Queue = group('The requests that wait while `concurrency` is reached.', {
  wait: duration('How long a request waits at most. At most 24h.', '30s'),
  length: Type.Integer({
    minimum: 0,
    description:
      'How many requests wait at most, and how many background runs. A further one takes the next route, or gets 429.',
    examples: [64],
  }),
})

/** An entry of `providers` in weir.yaml. */
export type ProviderSettings = Static<typeof ProviderSettings>
export const ProviderSettings = Type.Object(
  optional({
    kind: text('The kind of provider; needed if the name of the entry is not a kind itself.', 'vllm'),
    base_url: url('Where the API begins, without the path of an endpoint; by default that of the kind.'),
    api_key: Type.String({
      minLength: 1,
      expected: 'a string',
      description: 'The key of the provider; by default the variable of its kind.',
      examples: ['${ACME_API_KEY}'],
      private: true,
    }),
    api: Type.Enum(['chat', 'responses'], {
      description:
        'The API of the provider: `chat` for chat completions, `responses` for the Responses API, if the kind has it.',
      examples: ['responses'],
    }),
    api_version: text(
      'Azure only: the api-version of the older URLs, which name a deployment.',
      '2024-10-21',
    ),
    project: text('Google Cloud only: the id of the project.', 'my-project-123'),
    location: text('Google Cloud only: a region, `global`, `eu` or `us`.', 'europe-west4'),
    credentials: text(
      'Google Cloud only: the JSON file of a service account; relative paths begin at the folder of the settings file.',
      'service-account.json',
    ),
    headers: Type.Record(Type.String(), Type.String({ private: true }), {
      // A header may carry the key.
      private: true,
      description: 'Further headers of each request to the provider.',
      examples: [{ 'x-team': 'blue' }],
    }),
    discover: flag('Lists the models of the provider at the start and every minute, and enables them.'),
    timeouts: Timeouts,
    concurrency: count(
      'Requests in progress at once, in each process. Further ones wait, and keys take turns. Default: no limit.',
      4,
    ),
    queue: Queue,
  }),
  // A key in place of the entry is not shown.
  { ...closed, private: true },
)

/** How often a route is tried again. */
export const Retries = Type.Object(
  {
    attempts: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        description: 'How often a route is tried again.',
      }),
    ),
  },
  {
    ...closed,
    description:
      'Retries of a temporary failure, for each route of the model. A stream is retried only before its first event.',
  },
)

/** When a route that fails is skipped. */
export const Breaker = group(
  'The circuit breaker of each route. It opens at once if the connection is refused. The last route of a model is never skipped.',
  {
    failures: count('Failures in a row after which a route is skipped.', 3),
    cooldown: duration('How long a route that timed out is skipped before it is tried again.', '1m'),
  },
)
