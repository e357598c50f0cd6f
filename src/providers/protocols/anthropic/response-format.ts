import type { Format, Generation } from '../../../domain/generation/request.ts'
import type { Fields } from '../../../lib/json/json.ts'
import type { Target, Warn } from '../protocol.ts'
import type { Traits } from './models.ts'
import { closeSchema } from './schema.ts'

type SchemaFormat = Extract<Format, { readonly type: 'json_schema' }>

/** The way in which the model is made to use the requested response format. */
export type FormatPlan =
  | { readonly by: 'nothing' }
  /** Structured output with the schema. */
  | { readonly by: 'schema'; readonly schema: Fields }
  /** A tool whose arguments are the output. */
  | { readonly by: 'tool'; readonly format: SchemaFormat }
  /** An instruction in the prompt. */
  | { readonly by: 'prompt'; readonly instruction: string }

/** Chooses the way for the format of the generation. */
export function planFormat(generation: Generation, traits: Traits, target: Target, warn: Warn): FormatPlan {
  const { format } = generation
  if (!format || format.type === 'text') return { by: 'nothing' }
  if (format.type === 'json_object') {
    warn(
      '`response_format` `json_object` is not supported by anthropic; the model was instructed to return JSON instead.',
    )
    return { by: 'prompt', instruction: jsonInstruction }
  }
  if (traits.supportsSchemas) return { by: 'schema', schema: closeSchema(withDescription(format), warn) }
  if (!traits.refusesForcedCalls && format.schema.type === 'object') return { by: 'tool', format }
  warn(
    `JSON schemas cannot be enforced by ${target.model}; the model was instructed to follow the schema instead.`,
  )
  return { by: 'prompt', instruction: schemaInstruction(format) }
}

/** The description of the format goes into the schema: Anthropic has no other field for it. */
function withDescription({ description, schema }: SchemaFormat): Fields {
  return description === undefined ? schema : { description, ...schema }
}

const jsonInstruction = 'Answer with one JSON object and nothing else: no words around it and no code fence.'

function schemaInstruction(format: SchemaFormat): string {
  return `${jsonInstruction} It must follow this JSON Schema:\n${JSON.stringify(withDescription(format))}`
}

/**
 * The tool that a model without structured output is forced to call: its arguments are the output. The parser does not
 * know the request, so it recognizes the tool by its name.
 */
export const outputTool = 'weir__give_answer'

/** Renders the output tool for this format. */
export function renderOutputTool(format: SchemaFormat) {
  const { name, description, schema } = format
  const purpose = description === undefined ? name : `${name}: ${description}`
  return {
    name: outputTool,
    description: `Gives the answer to the user (${purpose}). Call it once, when the answer is known.`,
    input_schema: schema,
  }
}
