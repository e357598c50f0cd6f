import type { ChatCompletion, ChatCompletionChunk } from '../../src/api/chat-completions/reply-schema.ts'
import type { ErrorBody } from '../../src/lib/errors/errors.ts'

/** A parsed stream of chat completion chunks. */
export type StreamedReply = {
  readonly status: number
  readonly headers: Headers
  /** All of the body. */
  readonly text: string
  /** The data of the frames, without `[DONE]`. */
  readonly chunks: readonly ChatCompletionChunk[]
  /** The error of the last frame, where it has one. */
  readonly error?: ErrorBody['error']
  readonly done: boolean
}

/** Reads the stream to its end; throws where a frame is malformed. */
export async function readStreamed(response: Response): Promise<StreamedReply> {
  const text = await response.text()
  const frames = text.split('\n\n')
  if (frames.pop() !== '') throw new Error(`The last frame is not ended: ${text.slice(-200)}`)
  const data = frames.filter((frame) => frame !== ': keep-alive').map(dataOf)
  const objects = data.filter((piece) => piece !== '[DONE]').map((piece) => JSON.parse(piece))
  const error = objects.at(-1)?.error
  return {
    status: response.status,
    headers: response.headers,
    text,
    chunks: error === undefined ? objects : objects.slice(0, -1),
    error,
    done: data.at(-1) === '[DONE]',
  }
}

function dataOf(frame: string): string {
  if (!/^data: [^\n]+$/.test(frame)) throw new Error(`This is not a frame: ${frame.slice(0, 200)}`)
  return frame.slice('data: '.length)
}

/** Parses a complete reply. */
export async function readCompletion(response: Response): Promise<ChatCompletion> {
  return (await response.json()) as ChatCompletion
}

/** Parses the error body of a reply, and adds its status. */
export async function readError(
  response: Response,
): Promise<ErrorBody['error'] & { readonly status: number }> {
  const body = (await response.json()) as ErrorBody
  const keys = Object.keys(body.error).toSorted()
  if (Object.keys(body).join() !== 'error' || keys.join() !== 'code,message,param,type')
    throw new Error(`This is not the body of an error: ${JSON.stringify(body)}`)
  return { status: response.status, ...body.error }
}

type JoinedChoice = {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly object[]
  readonly finish: string | null
}

/** Joins the chunks to choices, as a client does. */
export function joinChunks(chunks: readonly ChatCompletionChunk[]): JoinedChoice[] {
  const parts = chunks.flatMap(({ choices }) => choices)
  const count = Math.max(0, ...parts.map(({ index }) => index + 1))
  return Array.from({ length: count }, (_, number) => {
    const own = parts.filter(({ index }) => index === number)
    const calls = own.flatMap(({ delta }) => delta.tool_calls ?? [])
    return {
      text: own.map(({ delta }) => delta.content ?? '').join(''),
      reasoning: own.map(({ delta }) => delta.reasoning ?? '').join(''),
      calls: calls.map(({ id, type, function: called }) => ({ id, type, function: called })),
      finish: own.findLast(({ finish_reason }) => finish_reason !== null)?.finish_reason ?? null,
    }
  })
}

/** The choices of a complete reply in the same shape. */
export function joinedChoices({ choices }: ChatCompletion): JoinedChoice[] {
  return choices.map(({ message, finish_reason }) => ({
    text: message.content ?? '',
    reasoning: message.reasoning ?? '',
    calls: message.tool_calls ?? [],
    finish: finish_reason,
  }))
}
