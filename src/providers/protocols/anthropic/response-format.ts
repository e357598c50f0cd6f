import type { Format, Generation } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Traits } from './models.ts'
import { closeSchema } from './schema.ts'

type SchemaFormat = Extract<Format, { readonly type: 'json_schema' }>

/** How the model is brought to answer in the form that was asked for. */
export type FormatPlan =
  | { readonly by: 'nothing' }
  /** It is held to the schema. */
  | { readonly by: 'schema'; readonly schema: Fields }
  /** It calls a tool whose arguments are the answer. */
  | { readonly by: 'tool'; readonly format: SchemaFormat }
  /** It is asked to. */
  | { readonly by: 'words'; readonly words: string }

/** The plan for the format that the generation asks for. */
export function planFormat(generation: Generation, traits: Traits, target: Target, warn: Warn): FormatPlan {
  const { format } = generation
  if (!format || format.type === 'text') return { by: 'nothing' }
  if (format.type === 'json_object') {
    warn('anthropic has no response_format json_object; the model was asked in words to answer with JSON.')
    return { by: 'words', words: askForJson }
  }
  if (traits.schemas) return { by: 'schema', schema: closeSchema(described(format), warn) }
  if (!traits.neverForced && format.schema.type === 'object') return { by: 'tool', format }
  warn(`${target.model} cannot be held to a JSON schema here; it was asked in words to follow it.`)
  return { by: 'words', words: askForSchema(format) }
}

/** The schema has no place for a description of its own but the one in it. */
function described({ description, schema }: SchemaFormat): Fields {
  return description === undefined ? schema : { description, ...schema }
}

const askForJson = 'Answer with one JSON object and nothing else: no words around it and no code fence.'

function askForSchema(format: SchemaFormat): string {
  return `${askForJson} It must follow this JSON Schema:\n${JSON.stringify(described(format))}`
}

/**
 * The tool that a model without schemas is made to call: its arguments are the answer. Nothing tells the reader
 * of an answer what had been asked, so the name alone has to say it.
 */
export const answerTool = 'weir__give_answer'

/** The tool for an answer of this form. */
export function renderAnswerTool(format: Extract<Format, { readonly type: 'json_schema' }>) {
  const { name, description, schema } = format
  const purpose = description === undefined ? name : `${name}: ${description}`
  return {
    name: answerTool,
    description: `Gives the answer to the user (${purpose}). Call it once, when the answer is known.`,
    input_schema: schema,
  }
}
