import { doneFrame, framesOf, chatOutput, usage } from '../../../support/chat-fixtures.ts'

/** In milliseconds: the pause between the end of a stream and its usage, in which clients can disconnect. */
const beforeUsage = 5

/** A provider that responds with a text of the requested length, and streams a short one. */
export function startShapesProvider() {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      const { stream, user } = (await request.json()) as { readonly stream?: boolean; readonly user?: string }
      if (stream) return new Response(streamedEnd(), { headers: { 'content-type': 'text/event-stream' } })
      const message = { role: 'assistant', content: 'x'.repeat(Number(user ?? 5)) }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage })
    },
  })
  return { url: `${server.url.href}v1`, stop: () => server.stop(true) }
}

function streamedEnd(): ReadableStream<string> {
  const frames = framesOf({ ...chatOutput(), usage: undefined })
  return new ReadableStream({
    async start(controller) {
      for (const frame of frames) if (frame !== doneFrame) controller.enqueue(frame)
      await Bun.sleep(beforeUsage)
      const last = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage }
      try {
        controller.enqueue(`data: ${JSON.stringify(last)}\n\n${doneFrame}`)
        controller.close()
      } catch {}
    },
  })
}
