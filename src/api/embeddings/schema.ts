import { type Static, Type } from 'typebox'
import { inputField } from '../../http/inputs.ts'
import { modelField, nullish, storableText, stringEnum } from '../../http/schema.ts'
import { labelFields } from '../../http/metadata.ts'
import { createValidator } from '../../lib/validation/validator.ts'

/** No model returns more numbers. */
const maxDimensions = 65_536

export type EmbeddingRequest = Static<typeof EmbeddingRequest>
/** The body of an embedding request; other properties are allowed. */
export const EmbeddingRequest = Type.Object(
  {
    model: modelField,
    input: inputField(1, {
      description:
        'The text to embed, or a list of at most 2048 texts; or token IDs, or a list of at most 2048 lists of them.',
    }),
    dimensions: nullish(Type.Integer({ minimum: 1, maximum: maxDimensions }), {
      description: `The length of the embeddings, from 1 to ${maxDimensions}, for models that support it.`,
    }),
    encoding_format: nullish(stringEnum(['float', 'base64']), {
      description: 'The form of the embeddings: lists of numbers, or little-endian 32-bit floats in base64.',
      default: 'float',
    }),
    user: nullish(storableText(), {
      description:
        'An ID of the end user. It is sent to the provider and stored with the usage of the request.',
    }),
    ...labelFields,
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
