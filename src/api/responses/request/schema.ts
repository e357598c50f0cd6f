import { type Static, Type } from 'typebox'
import { efforts } from '../../../domain/generation/request.ts'
import { checkMetadata, Metadata } from '../../../http/metadata.ts'
import { Tags, TraceContext, maybe, stringEnum } from '../../../http/schema.ts'
import { contract } from '../../../lib/validation/contract.ts'

const maxInteger = Number.MAX_SAFE_INTEGER

const InputText = Type.Object({ type: Type.Literal('input_text'), text: Type.String() })

const InputImage = Type.Object({
  type: Type.Literal('input_image'),
  image_url: maybe(Type.Union([Type.String(), Type.Object({ url: Type.String() })])),
  detail: maybe(Type.String()),
  file_id: maybe(Type.String()),
})

const ForeignPart = Type.Object({ type: otherTypeThan('input_text', 'input_image') })

const InputMessage = Type.Object(
  {
    type: maybe(Type.Literal('message')),
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
  effort: maybe(stringEnum(efforts)),
  summary: maybe(stringEnum(['auto', 'concise', 'detailed'])),
})

const TextOptions = Type.Object({ format: maybe(Type.Object({ type: Type.String() })) })

export type ResponseRequest = Static<typeof ResponseRequest>
/** The body of `POST /v1/responses`; it may have further properties. */
export const ResponseRequest = Type.Object(
  {
    model: Type.String(),
    input: Type.Union([Type.String(), Type.Array(InputItem)]),
    instructions: maybe(Type.String()),
    max_output_tokens: maybe(Type.Integer({ exclusiveMinimum: 0, maximum: maxInteger })),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    stream: maybe(Type.Boolean()),
    background: maybe(Type.Boolean()),
    store: maybe(Type.Boolean()),
    previous_response_id: maybe(Type.String()),
    reasoning: maybe(Reasoning),
    text: maybe(TextOptions),
    tools: maybe(Type.Array(Type.Object({ type: Type.String() }))),
    tool_choice: Type.Optional(Type.Unknown()),
    parallel_tool_calls: maybe(Type.Boolean()),
    truncation: maybe(Type.String()),
    user: maybe(Type.String()),
    include: maybe(Type.Array(Type.String())),
    metadata: maybe(Metadata),
    tags: maybe(Tags),
    trace: maybe(TraceContext),
  },
  { title: 'CreateResponseRequest' },
)

/** The names of the request's properties that the schema knows. */
export const knownProperties: ReadonlySet<string> = new Set(Object.keys(ResponseRequest.properties))

/** The contract by which the route validates its body. */
export const responseRequest = contract(ResponseRequest, checkMetadata)

/** Any type but these, which have schemas of their own. */
function otherTypeThan(...types: readonly string[]) {
  return Type.String({ not: { enum: types } })
}
