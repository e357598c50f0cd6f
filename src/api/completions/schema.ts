import { type Static, Type } from 'typebox'
import { inputField } from '../../http/inputs.ts'
import { FreeObject, modelField, nullish, storableText } from '../../http/schema.ts'
import { labelFields } from '../../http/metadata.ts'
import { RenderedUsage } from '../../http/usage.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { createValidator } from '../../lib/validation/validator.ts'

const maxInteger = Number.MAX_SAFE_INTEGER
const ChoiceCount = Type.Integer({ minimum: 1, maximum: maxInteger })

const StreamOptions = Type.Object(
  {
    include_usage: nullish(Type.Boolean(), {
      description: 'Whether the stream ends with a chunk that has the usage.',
      default: false,
    }),
  },
  { additionalProperties: false },
)

const LogitBias = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  additionalProperties: { type: 'number' },
})

export type CompletionRequest = Static<typeof CompletionRequest>
/** The body of a completion request; other properties are allowed. */
export const CompletionRequest = Type.Object(
  {
    model: modelField,
    prompt: inputField(0, {
      description: 'The text to continue, or a list of texts; or token IDs, or a list of lists of them.',
    }),
    suffix: nullish(Type.String(), { description: 'The text after the one to generate.' }),
    max_tokens: nullish(Type.Integer({ minimum: 0, maximum: maxInteger }), {
      description: 'The maximum number of tokens to generate for each choice. At least 0.',
      default: 16,
    }),
    temperature: nullish(Type.Number({ minimum: 0, maximum: 2 }), {
      description: 'The sampling temperature, from 0 to 2.',
    }),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 }), {
      description: 'The probability mass that is sampled from, from 0 to 1.',
    }),
    n: nullish(ChoiceCount, {
      description: 'The number of choices for each prompt. At most 128 choices for all prompts together.',
      default: 1,
    }),
    best_of: nullish(ChoiceCount, {
      description: 'How many choices to generate for each prompt, of which the best `n` are returned.',
    }),
    stream: nullish(Type.Boolean(), {
      description: 'Whether to stream the completion as server-sent events.',
      default: false,
    }),
    stream_options: nullish(StreamOptions, { description: 'Options of a stream.' }),
    logprobs: nullish(Type.Integer({ minimum: 0, maximum: 20 }), {
      description: 'How many alternatives to return with the log probability of each token. From 0 to 20.',
    }),
    echo: nullish(Type.Boolean(), {
      description: 'Whether each choice begins with its prompt.',
      default: false,
    }),
    stop: nullish(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })]), {
      description: 'A text at which the model stops, or up to 4 of them.',
    }),
    seed: nullish(Type.Integer({ minimum: -maxInteger, maximum: maxInteger }), {
      description: 'A seed for repeatable sampling, where the provider supports it.',
    }),
    frequency_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 }), {
      description: 'Lowers the probability of frequent tokens, from -2 to 2.',
    }),
    presence_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 }), {
      description: 'Lowers the probability of tokens that occurred before, from -2 to 2.',
    }),
    logit_bias: nullish(LogitBias, { description: 'The bias of tokens, by their ID.' }),
    user: nullish(storableText(), {
      description:
        'An ID of the end user. It is sent to the provider and stored with the usage of the request.',
    }),
    ...labelFields,
  },
  { title: 'CompletionRequest' },
)

/** The names of the properties that the schema names. */
export const knownProperties: ReadonlySet<string> = new Set(Object.keys(CompletionRequest.properties))

/** The contract of the request body, with the checks that a schema cannot express. */
export const completionRequest = createValidator(CompletionRequest, ({ n, best_of: bestOf }) => {
  if (bestOf != null && bestOf < (n ?? 1))
    throw badRequest("Invalid 'best_of': must not be less than 'n'.", 'invalid_value', 'best_of')
})

const Choice = Type.Object({
  index: Type.Integer(),
  text: Type.String(),
  /** As the provider sends them: `tokens`, `token_logprobs`, `top_logprobs` and `text_offset`. */
  logprobs: Type.Union([FreeObject, Type.Null()]),
  finish_reason: Type.Union([
    Type.Enum(['stop', 'length', 'content_filter'], { type: 'string' }),
    Type.Null(),
  ]),
})

const replyFields = {
  id: Type.String(),
  object: Type.Literal('text_completion'),
  created: Type.Number(),
  model: Type.String(),
  choices: Type.Array(Choice),
  provider: Type.Optional(Type.String()),
  warnings: Type.Optional(Type.Array(Type.String())),
}

export type Completion = Static<typeof Completion>
/** A complete completion. */
export const Completion = Type.Object({ ...replyFields, usage: RenderedUsage }, { title: 'Completion' })

/** One frame of a streamed completion. */
export const CompletionChunk = Type.Object(
  { ...replyFields, usage: Type.Optional(Type.Union([RenderedUsage, Type.Null()])) },
  { title: 'CompletionChunk' },
)
