import { type Static, Type } from 'typebox'
import { efforts } from '../../../domain/generation/request.ts'
import { checkMetadata, Metadata } from '../../../http/metadata.ts'
import { Tags, TraceContext, nullish, stringEnum } from '../../../http/schema.ts'
import { createValidator } from '../../../lib/validation/validator.ts'

const maxInteger = Number.MAX_SAFE_INTEGER

const InputText = Type.Object({ type: Type.Literal('input_text'), text: Type.String() })

const InputImage = Type.Object({
  type: Type.Literal('input_image'),
  image_url: nullish(Type.Union([Type.String(), Type.Object({ url: Type.String() })])),
  detail: nullish(Type.String()),
  file_id: nullish(Type.String()),
})

const ForeignPart = Type.Object({ type: otherTypeThan('input_text', 'input_image') })

const InputMessage = Type.Object(
  {
    type: nullish(Type.Literal('message')),
    role: stringEnum(['system', 'developer', 'user', 'assistant']),
    content: Type.Union([Type.String(), Type.Array(Type.Union([InputText, InputImage, ForeignPart]))]),
  },
  { title: 'ResponseInputMessage' },
)

const itemId = Type.String({ minLength: 1 })

const ItemReference = Type.Object({ type: Type.Literal('item_reference'), id: itemId })

// No additional properties, so that a message without a role does not pass as a reference.
const BareReference = Type.Object(
  { type: Type.Optional(Type.Null()), id: itemId },
  { additionalProperties: false },
)

const ForeignItem = Type.Object({ type: otherTypeThan('message', 'item_reference') })

export type InputItem = Static<typeof InputItem>
/** An item of the input; items of other types may have any properties. */
export const InputItem = Type.Union([InputMessage, ItemReference, BareReference, ForeignItem])

const Reasoning = Type.Object({
  effort: nullish(stringEnum(efforts)),
  summary: nullish(stringEnum(['auto', 'concise', 'detailed'])),
})

const TextOptions = Type.Object({ format: nullish(Type.Object({ type: Type.String() })) })

export type ResponseRequest = Static<typeof ResponseRequest>
/** The body of `POST /v1/responses`; it may have further properties. */
export const ResponseRequest = Type.Object(
  {
    model: Type.String(),
    input: Type.Union([Type.String(), Type.Array(InputItem)]),
    instructions: nullish(Type.String()),
    max_output_tokens: nullish(Type.Integer({ exclusiveMinimum: 0, maximum: maxInteger })),
    temperature: nullish(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    stream: nullish(Type.Boolean()),
    background: nullish(Type.Boolean()),
    store: nullish(Type.Boolean()),
    previous_response_id: nullish(Type.String()),
    reasoning: nullish(Reasoning),
    text: nullish(TextOptions),
    tools: nullish(Type.Array(Type.Object({ type: Type.String() }))),
    tool_choice: Type.Optional(Type.Unknown()),
    parallel_tool_calls: nullish(Type.Boolean()),
    truncation: nullish(Type.String()),
    user: nullish(Type.String()),
    include: nullish(Type.Array(Type.String())),
    metadata: nullish(Metadata),
    tags: nullish(Tags),
    trace: nullish(TraceContext),
  },
  { title: 'CreateResponseRequest' },
)

/** The names of the request's properties that the schema knows. */
export const knownProperties: ReadonlySet<string> = new Set(Object.keys(ResponseRequest.properties))

/** The contract by which the route validates its body. */
export const responseRequest = createValidator(ResponseRequest, checkMetadata)

/** Any type but these, which have schemas of their own. */
function otherTypeThan(...types: readonly string[]) {
  return Type.String({ not: { enum: types } })
}
