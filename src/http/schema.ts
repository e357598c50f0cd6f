import { type TSchema, type TSchemaOptions, type TStringOptions, Type } from 'typebox'
import type { Fields } from '../lib/json/json.ts'
import { storablePattern } from '../lib/text.ts'

/** An object with string keys and any values. */
export const FreeObject = Type.Unsafe<Fields>({ type: 'object' })

/** A property that may be absent or null, which mean the same; the options have its description and its default. */
export function nullish<Schema extends TSchema>(schema: Schema, options: TSchemaOptions = {}) {
  return Type.Optional(Type.Union([schema, Type.Null()], options))
}

/** A string that is one of these values. */
export function stringEnum<const Values extends readonly string[]>(
  values: Values,
  options: TSchemaOptions = {},
) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: values, ...options })
}

/** A text with a description, in a reply. */
export function text(description: string) {
  return Type.String({ description })
}

/** A text that may be null, with a description. */
export function textOrNull(description: string) {
  return Type.Union([Type.String(), Type.Null()], { description })
}

/** A whole number of at least 0, with a description. */
export function count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

/** The field that names the type of an object. */
export function objectType<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: 'The type of the object.' })
}

/** A text by which rows are found or grouped, such as a label or a name. */
export function storableText(options: TStringOptions = {}) {
  return Type.String({ ...options, pattern: storablePattern })
}

/** How the tokens of a chat completion or a response are chosen. */
export const samplingFields = {
  temperature: nullish(Type.Number({ minimum: 0, maximum: 2 }), {
    description:
      'The sampling temperature, from 0 to 2. Higher values make the output more random. Defaults to that of the model.',
  }),
  top_p: nullish(Type.Number({ minimum: 0, maximum: 1 }), {
    description:
      'Nucleus sampling, from 0 to 1: only the tokens with this total probability are considered. ' +
      'Defaults to that of the model.',
  }),
}

/** The model of a request, for the APIs that accept its name without the author. */
export const modelField = Type.String({
  description: 'The model: its slug, an alias, or its name without the author where that is unambiguous.',
})

/** The body of every error. */
export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'What is wrong, and how to fix it, for people.' }),
      type: Type.String({ description: 'The category of the error, such as `invalid_request_error`.' }),
      param: Type.Union([Type.String(), Type.Null()], {
        description: 'The path of the field that caused the error, such as `messages[0].content`.',
      }),
      code: Type.Union([Type.String(), Type.Null()], {
        description: 'The error code, for programs, such as `rate_limit_exceeded`.',
      }),
    }),
  },
  { title: 'Error' },
)
