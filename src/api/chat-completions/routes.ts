import { Elysia } from 'elysia'
import { toDollars } from '../../gateway/billing/price.ts'
import { errorFrame, eventStream, openSource } from '../../http/event-stream.ts'
import { streamError } from '../../http/errors.ts'
import type { Guard } from '../../http/guard.ts'
import { bodyErrors, describe } from '../../http/describe.ts'
import type { Log } from '../../lib/log.ts'
import { contextOf } from '../generate.ts'
import { chatExamples } from './examples.ts'
import { ChatCompletion, ChatCompletionChunk, FragmentedChunk } from './reply-schema.ts'
import { chatRequest } from './schema.ts'
import { type ChatDependencies, completeChat, streamChat } from './service.ts'

/** The path of chat completions. */
export const chatPath = '/v1/chat/completions'

/** `POST /v1/chat/completions`. */
export function chatRoutes(guard: Guard, dependencies: ChatDependencies, log: Log) {
  return new Elysia({ name: 'chat' }).use(guard).post(
    chatPath,
    async ({ readBody, watchKey, caller, admission, record, request, set }) => {
      const body = await readBody(request, chatRequest, { admission, caller })
      const context = contextOf({ caller, admission, record, request, set }, body)
      if (body.stream) {
        const failed = (error: unknown) => errorFrame(streamError(error, log, context.requestId))
        const start = (onWaiting: () => void) => streamChat(body, { ...context, onWaiting }, dependencies)
        return eventStream(await openSource(start, { failed }), { watch: watchKey(caller.keyId) })
      }
      const { completion, cost } = await completeChat(body, context, dependencies)
      if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
      return completion
    },
    { detail: detailOf(dependencies) },
  )
}

const createDescription =
  'Generates the response of a model to a conversation. With `stream`, the response is sent as server-sent events. With ' +
  '`store`, it can be retrieved later. Parameters that the gateway does not know are passed on to the provider, if it ' +
  'supports them. `warnings` in the response names those that were ignored. If the cost is known, the header ' +
  '`x-weir-cost` has it in USD.'

function detailOf({ toolCallFragments }: ChatDependencies) {
  return describe({
    tag: 'Chat',
    id: 'createChatCompletion',
    summary: 'Create a chat completion',
    description: createDescription,
    body: chatRequest,
    examples: chatExamples,
    reply: ChatCompletion,
    frames: {
      schema: toolCallFragments ? FragmentedChunk : ChatCompletionChunk,
      end: '`data: [DONE]`',
    },
    errors: [...bodyErrors, 402, 404, 502],
  })
}
