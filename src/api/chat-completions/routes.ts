import { Elysia } from 'elysia'
import type { TSchema } from 'typebox'
import { toDollars } from '../../gateway/billing/price.ts'
import { bodyErrors, describe } from '../../http/openapi/describe.ts'
import { eventStream } from '../../http/event-stream.ts'
import { failureFrame } from '../../http/failure-frame.ts'
import type { Guard } from '../../http/guard.ts'
import type { Log } from '../../lib/log.ts'
import { chatPath } from './path.ts'
import { ChatCompletion } from './reply-schema.ts'
import { chatRequest } from './schema.ts'
import type { ChatService } from './service.ts'

/** `POST /v1/chat/completions`; `chunk` is what a frame of a stream holds. */
export function chatRoutes(guard: Guard, service: ChatService, log: Log, chunk: TSchema) {
  return new Elysia({ name: 'chat' }).use(guard).post(
    chatPath,
    async ({ readBody, caller, admission, request, set }) => {
      const question = await readBody(request, chatRequest, admission)
      const requestId = String(set.headers['x-request-id'])
      const asker = { requestId, ...caller, admission, signal: request.signal }
      if (question.stream) {
        const failed = (error: unknown) => failureFrame(error, log, requestId)
        return eventStream({ ...(await service.stream(question, asker)), failed })
      }
      const { completion, cost } = await service.complete(question, asker)
      if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
      return completion
    },
    { detail: detailOf(chunk) },
  )
}

function detailOf(chunk: TSchema) {
  return describe({
    tag: 'Chat',
    id: 'createChatCompletion',
    summary: 'Create a chat completion',
    body: chatRequest,
    reply: ChatCompletion,
    frames: { schema: chunk, end: '`data: [DONE]`' },
    errors: [...bodyErrors, 402, 404, 502],
  })
}
