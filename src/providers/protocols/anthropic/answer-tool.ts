import type { Format } from '../../../domain/generation/request.ts'

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
