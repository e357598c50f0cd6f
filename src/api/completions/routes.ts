import { Elysia } from 'elysia'
import { toDollars } from '../../gateway/billing/price.ts'
import { errorFrame, eventStream, openSource } from '../../http/event-stream.ts'
import { streamError } from '../../http/errors.ts'
import type { Guard } from '../../http/guard.ts'
import { bodyErrors, describe, type Examples } from '../../http/describe.ts'
import type { Log } from '../../lib/log.ts'
import { contextOf, type GenerationDependencies } from '../generate.ts'
import { Completion, CompletionChunk, completionRequest } from './schema.ts'
import { completePrompts, streamPrompts } from './service.ts'

const prompt = 'def median(numbers):'

/** Requests for completions, for the OpenAPI document. */
const completionExamples: Examples = {
  text: { summary: 'A text', value: { model: 'local/qwen3-coder', prompt, max_tokens: 64 } },
  stream: {
    summary: 'A stream',
    value: { model: 'local/qwen3-coder', prompt, max_tokens: 64, stream: true },
  },
}

/** Where completions of prompts are requested. */
export const completionsPath = '/v1/completions'

/** `POST /v1/completions`. */
export function textCompletionRoutes(guard: Guard, dependencies: GenerationDependencies, log: Log) {
  return new Elysia({ name: 'text-completions' }).use(guard).post(
    completionsPath,
    async ({ readBody, watchKey, caller, admission, record, request, set }) => {
      const body = await readBody(request, completionRequest, { admission, caller })
      const context = contextOf({ caller, admission, record, request, set }, body)
      if (body.stream) {
        const failed = (error: unknown) => errorFrame(streamError(error, log, context.requestId))
        const start = (onWaiting: () => void) => streamPrompts(body, { ...context, onWaiting }, dependencies)
        return eventStream(await openSource(start, { failed }), { watch: watchKey(caller.keyId) })
      }
      const { completion, cost } = await completePrompts(body, context, dependencies)
      if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
      return completion
    },
    { detail },
  )
}

const detail = describe({
  tag: 'Completions',
  id: 'createCompletion',
  summary: 'Complete a prompt',
  description:
    'Continues a text, for models whose provider has completions beside conversations. The request is passed on to the provider.',
  body: completionRequest,
  examples: completionExamples,
  reply: Completion,
  frames: { schema: CompletionChunk, end: '`data: [DONE]`' },
  errors: [...bodyErrors, 402, 404, 502],
})
