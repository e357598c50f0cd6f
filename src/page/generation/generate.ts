import type { ApiClient } from '../api/client.ts'
import { readEvents } from '../api/event-stream.ts'
import { isAbort, toFailure } from '../api/failure.ts'
import { Answer } from './answer.ts'
import { parseChatEvent } from './chat-events.ts'
import { type GenerationRequest, pathOf, requestBody } from './request-body.ts'
import { createResponseEventParser } from './response-events.ts'

/** A call in progress: its answer, and how to stop it. */
export type GenerationCall = {
  readonly answer: Answer
  readonly stop: () => void
  readonly done: Promise<void>
}

/** Characters. A longer answer is stopped: the page could not show it. */
const maxAnswerLength = 8 * 1024 * 1024

/** Sends the request, and fills the answer from its stream. */
export function generate(api: ApiClient, request: GenerationRequest): GenerationCall {
  const controller = new AbortController()
  const answer = new Answer(performance.now())
  return { answer, stop: () => controller.abort(), done: run(api, request, answer, controller.signal) }
}

async function run(
  api: ApiClient,
  request: GenerationRequest,
  answer: Answer,
  signal: AbortSignal,
): Promise<void> {
  try {
    const response = await api.open(pathOf[request.parameters.api], {
      method: 'POST',
      body: JSON.stringify(requestBody(request)),
      headers: { 'content-type': 'application/json' },
      signal,
    })
    answer.requestId = response.headers.get('x-request-id') ?? undefined
    const parse = request.parameters.api === 'chat' ? parseChatEvent : createResponseEventParser()
    await readEvents(response, (events) => {
      for (const { data } of events) answer.add(parse(data) ?? {}, performance.now())
      if (answer.text.length + answer.reasoning.length > maxAnswerLength)
        throw new Error('The answer is too long to show.')
    })
    answer.end('finished', performance.now())
  } catch (error) {
    if (isAbort(error)) answer.end('stopped', performance.now())
    else answer.end('failed', performance.now(), toFailure(error))
  }
}
