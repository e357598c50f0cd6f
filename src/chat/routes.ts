import { Elysia } from 'elysia'
import { toDollars } from '../gateway/price.ts'
import { eventStream } from '../http/event-stream.ts'
import { failureFrame } from '../http/failure-frame.ts'
import type { Guard } from '../http/guard.ts'
import type { Log } from '../lib/log.ts'
import { chatRequest } from './schema.ts'
import type { ChatService } from './service.ts'

/** `POST /v1/chat/completions`. */
export function chatRoutes(guard: Guard, service: ChatService, log: Log) {
  return new Elysia({ name: 'chat' }).use(guard).post(
    '/v1/chat/completions',
    async ({ body, caller, request, set }) => {
      const asker = { organization: caller.organization.id, signal: request.signal }
      if (body.stream) {
        const failed = (error: unknown) => failureFrame(error, log, String(set.headers['x-request-id']))
        return eventStream(await service.stream(body, asker), failed)
      }
      const { completion, cost } = await service.complete(body, asker)
      if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
      return completion
    },
    { body: chatRequest, detail: { tags: ['Chat'], summary: 'Create a chat completion' } },
  )
}
