import { type Static, Type } from 'typebox'
import { inputField } from '../../http/inputs.ts'
import { nullish, Tags, TraceContext } from '../../http/schema.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { createValidator } from '../../lib/validation/validator.ts'

const maxInteger = Number.MAX_SAFE_INTEGER
const ChoiceCount = Type.Integer({ minimum: 1, maximum: maxInteger })

const StreamOptions = Type.Object({ include_usage: nullish(Type.Boolean()) }, { additionalProperties: false })

const LogitBias = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  additionalProperties: { type: 'number' },
})

export type CompletionRequest = Static<typeof CompletionRequest>
/** The body of a completion request; other properties are allowed. */
export const CompletionRequest = Type.Object(
  {
    model: Type.String(),
    prompt: inputField(0),
    suffix: nullish(Type.String()),
    max_tokens: nullish(Type.Integer({ minimum: 0, maximum: maxInteger })),
    temperature: nullish(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    n: nullish(ChoiceCount),
    best_of: nullish(ChoiceCount),
    stream: nullish(Type.Boolean()),
    stream_options: nullish(StreamOptions),
    logprobs: nullish(Type.Integer({ minimum: 0, maximum: 20 })),
    echo: nullish(Type.Boolean()),
    stop: nullish(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
    seed: nullish(Type.Integer({ minimum: -maxInteger, maximum: maxInteger })),
    frequency_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 })),
    presence_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 })),
    logit_bias: nullish(LogitBias),
    user: nullish(Type.String()),
    tags: nullish(Tags),
    trace: nullish(TraceContext),
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
