import { type Static, Type } from 'typebox'
import { inputField } from '../../http/inputs.ts'
import { nullish, stringEnum, Tags, TraceContext } from '../../http/schema.ts'
import { createValidator } from '../../lib/validation/validator.ts'

/** No model returns more numbers. */
const maxDimensions = 65_536

export type EmbeddingRequest = Static<typeof EmbeddingRequest>
/** The body of an embedding request; other properties are allowed. */
export const EmbeddingRequest = Type.Object(
  {
    model: Type.String(),
    input: inputField(1),
    dimensions: nullish(Type.Integer({ minimum: 1, maximum: maxDimensions })),
    encoding_format: nullish(stringEnum(['float', 'base64'])),
    user: nullish(Type.String()),
    tags: nullish(Tags),
    trace: nullish(TraceContext),
  },
  { title: 'EmbeddingRequest' },
)

/** The names of the properties that the schema names. */
export const knownProperties: ReadonlySet<string> = new Set(Object.keys(EmbeddingRequest.properties))

/** The contract of the request body. */
export const embeddingRequest = createValidator(EmbeddingRequest)

const count = Type.Number()

/** An embedding: numbers, or the base64 text of little-endian floats of 32 bits. */
const Embedding = Type.Object(
  {
    object: Type.Literal('embedding'),
    index: Type.Integer(),
    embedding: Type.Union([Type.Array(count), Type.String()]),
  },
  { title: 'Embedding' },
)

/** The embeddings of all inputs, in their order. */
export const EmbeddingList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(Embedding),
    model: Type.String(),
    usage: Type.Object({ prompt_tokens: count, total_tokens: count }),
    provider: Type.Optional(Type.String()),
    warnings: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'EmbeddingList' },
)
