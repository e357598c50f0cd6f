import {
  chunks,
  delta,
  doneFrame,
  chatOutput,
  streamReply,
  jsonReply,
} from '../../../support/chat-fixtures.ts'
import { breakOff, hang, json, jsonPieces, reset, type Script, silence } from '../../../support/script.ts'

/** Responds at random: correctly, without usage, at great length, late, or not at all. */
export function faultyProvider(random: () => number): Script {
  return {
    play(socket, closed) {
      // The form of the request is unknown here: either form may be sent, and one of them is a fault.
      return answerOf(random).play(socket, closed)
    },
  }
}

function answerOf(random: () => number): Script {
  const tokens = { prompt_tokens: 5 + whatever(random, 20), completion_tokens: whatever(random, 60) }
  // More than was reserved for the prompt, and more output than was requested.
  const long = {
    prompt_tokens: 2000 + whatever(random, 5000),
    completion_tokens: 500 + whatever(random, 5000),
  }
  const draw = random()
  const form = random() < 0.5 ? jsonReply : streamReply
  if (draw < 0.5) return form(chatOutput({}, { usage: tokens }))
  if (draw < 0.58) return form(chatOutput({}, { usage: undefined }))
  if (draw < 0.66) return form(chatOutput({}, { usage: long }))
  if (draw < 0.72) return json({ error: { message: 'Down.' } }, { status: 503 })
  if (draw < 0.76) return json({ error: { message: 'No.' } }, { status: 400 })
  if (draw < 0.8) return reset
  if (draw < 0.84) return jsonPieces(['{"choices":[{"in'], breakOff)
  if (draw < 0.9) return chunks([opening, later(random), delta({ content: 'more' })], breakOff)
  if (draw < 0.96) return chunks([opening, later(random), delta({}, 'stop'), doneFrame])
  return draw < 0.98 ? chunks([opening], hang) : silence
}

const opening = delta({ role: 'assistant', content: 'It is ' })

function whatever(random: () => number, max: number): number {
  return Math.floor(random() * max)
}

function later(random: () => number): Promise<void> {
  return Bun.sleep(random() * 40)
}
