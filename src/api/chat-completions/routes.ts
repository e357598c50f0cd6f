import { Elysia } from 'elysia'
import type { TSchema } from 'typebox'
import { toDollars } from '../../gateway/billing/price.ts'
import { errorFrame, eventStream, openSource } from '../../http/event-stream.ts'
import { streamError } from '../../http/errors.ts'
import type { Guard } from '../../http/guard.ts'
import { bodyErrors, describe } from '../../http/describe.ts'
import type { Log } from '../../lib/log.ts'
import { chatExamples } from './examples.ts'
import { ChatCompletion } from './reply-schema.ts'
import { chatRequest } from './schema.ts'
import type { ChatService } from './service.ts'

/** The path of chat completions. */
export const chatPath = '/v1/chat/completions'

/** `POST /v1/chat/completions`; `chunk` is the schema of a frame of the stream. */
export function chatRoutes(guard: Guard, service: ChatService, log: Log, chunk: TSchema) {
  return new Elysia({ name: 'chat' }).use(guard).post(
    chatPath,
    async ({ readBody, watchKey, caller, admission, request, set }) => {
      const body = await readBody(request, chatRequest, { admission, caller })
      const requestId = String(set.headers['x-request-id'])
      const { headers, signal } = request
      const context = { requestId, ...caller, body, admission, headers, signal }
      if (body.stream) {
        const failed = (error: unknown) => errorFrame(streamError(error, log, requestId))
        const start = (onWaiting: () => void) => service.stream(body, { ...context, onWaiting })
        return eventStream(await openSource(start, { failed }), { watch: watchKey(caller.keyId) })
      }
      const { completion, cost } = await service.complete(body, context)
      if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
      return completion
    },
    { detail: detailOf(chunk) },
  )
}

const createDescription =
  'Generates the response of a model to a conversation. With `stream`, the response is sent as server-sent events. With ' +
  '`store`, it can be retrieved later. Parameters that the gateway does not know are passed on to the provider, if it ' +
  'supports them. `warnings` in the response names those that were ignored. If the cost is known, the header ' +
  '`x-weir-cost` has it in USD.'

function detailOf(chunk: TSchema) {
  return describe({
    tag: 'Chat',
    id: 'createChatCompletion',
    summary: 'Create a chat completion',
    description: createDescription,
    body: chatRequest,
    examples: chatExamples,
    reply: ChatCompletion,
    frames: { schema: chunk, end: '`data: [DONE]`' },
    errors: [...bodyErrors, 402, 404, 502],
  })
}
