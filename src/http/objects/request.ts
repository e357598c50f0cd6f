import { Type } from 'typebox'
import { count, text, textOrNull } from '../schema.ts'

const milliseconds = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

const Attempt = Type.Object(
  {
    provider: text('The name of the provider.'),
    model: textOrNull("The provider's name of the model."),
    outcome: text('`ok`, `circuit_open` if the route was skipped, or the code of the error.'),
    status: Type.Optional(
      Type.Integer({ description: 'The status that the error would have as a response.' }),
    ),
    ms: milliseconds('How long it took, in milliseconds.'),
    message: Type.Optional(Type.String({ description: 'The error message, with quoted text removed.' })),
    provider_message: Type.Optional(
      Type.String({ description: 'The message of the provider, without anything of the request.' }),
    ),
  },
  { title: 'RequestAttempt' },
)

const AnsweredChoice = Type.Object(
  {
    text: text('The text.'),
    reasoning: text('The text of the reasoning, as far as the provider has sent it.'),
    tool_calls: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String(), arguments: Type.String() }),
      {
        description: 'The complete tool calls.',
      },
    ),
    finish_reason: textOrNull('Why it ended; null if it did not.'),
  },
  { title: 'AnsweredChoice' },
)

/** The content of a finished request. */
export const RequestContent = Type.Object(
  {
    object: Type.Literal('request.content', { description: 'The type of the object.' }),
    id: text('The ID of the request.'),
    kept: Type.Boolean({
      description:
        'Whether there is content: the content log of the API key was on, a provider was sent the request, and it is not deleted yet.',
    }),
    request: Type.Union([Type.Object({}), Type.Null()], {
      description:
        'The body of the request. Files are replaced by their type and size, and what exceeds the limit by what is missing.',
    }),
    response: Type.Union([Type.Array(AnsweredChoice), Type.Null()], {
      description: 'The choices of the answer; null if there was none.',
    }),
    error: textOrNull('The error message that the client received, which may quote the prompt.'),
  },
  { title: 'RequestContent' },
)

/** A finished request. */
export const RequestObject = Type.Object(
  {
    object: Type.Literal('request', { description: 'The type of the object.' }),
    id: text('The ID, which the client has received in `x-request-id`.'),
    created_at: text('When it arrived, in ISO 8601.'),
    status: Type.Integer({
      description:
        'The status of the response; 499 if the client disconnected before it, 0 if the server died.',
    }),
    error: textOrNull('The code of the error, also of one in the middle of a stream.'),
    message: textOrNull("The error message, in the gateway's words and with quoted text removed."),
    provider_message: textOrNull(
      'The message of the provider, without anything of the request: `…` where words are omitted.',
    ),
    param: textOrNull('The parameter that was wrong.'),
    organization: text('The name of the organization.'),
    organization_id: text('The ID of the organization.'),
    project: textOrNull('The ID of the project that the API key had.'),
    project_name: textOrNull('The name of the project.'),
    key: text('The ID of the API key.'),
    key_name: textOrNull('The name of the API key.'),
    user: textOrNull('The user of the request.'),
    session: textOrNull('The session of the request.'),
    tags: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'The `tags` of the request.' }),
    trace: Type.Union([Type.Object({}), Type.Null()], { description: 'The `trace` of the request.' }),
    api: text('The API, such as `chat` or `responses`.'),
    model: textOrNull('The slug of the model; null if the request named none that exists.'),
    provider: textOrNull('The provider that served it, or was tried last; null if none was.'),
    upstream_model: textOrNull("The provider's name of the model."),
    stream: Type.Boolean({ description: 'Whether the answer was streamed.' }),
    performance_mode: textOrNull('The performance mode.'),
    input_tokens: count('The input tokens, including cached ones.'),
    cached_tokens: count('The input tokens that the provider read from its cache.'),
    cache_write_tokens: count('The input tokens that the provider wrote to its cache.'),
    output_tokens: count('The output tokens, including those of reasoning.'),
    reasoning_tokens: count('The output tokens that were used for reasoning.'),
    estimated: Type.Boolean({ description: 'Whether the tokens are an estimate.' }),
    cost_usd: textOrNull('The cost in USD, as an exact decimal number; null if the model has no price.'),
    latency_ms: milliseconds('The milliseconds until the end of the response.'),
    first_token_ms: milliseconds('The milliseconds until the first token of a stream.'),
    attempts: Type.Array(Attempt, { description: 'The calls to providers, in their order.' }),
    warnings: Type.Array(Type.String(), { description: 'The warnings that the client received.' }),
  },
  { title: 'Request' },
)
