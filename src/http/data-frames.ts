import type { ApiError } from '../lib/errors/errors.ts'

/** The frame that marks a stream of chunks as complete. */
export const doneFrame = 'data: [DONE]\n\n'

/** The frame of an error in the middle of a stream. It is the last one, so that a broken stream never looks complete. */
export function errorFrame(error: ApiError): string {
  return `data: ${JSON.stringify(error.toBody())}\n\n`
}
