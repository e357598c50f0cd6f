import type { Message, Part, ToolMessage } from '../../../domain/generation/request.ts'

/**
 * Returns the messages with the images and files of tool results in a user message after the results: in chat
 * completions, the result of a tool is text.
 */
export function withoutResultImages(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(hasMedia)) return messages
  const moved: Message[] = []
  let waiting: Part[] = []
  for (const message of messages) {
    if (hasMedia(message)) {
      waiting.push(...mediaOf(message))
      moved.push({ ...message, parts: textOf(message) })
    } else if (waiting.length === 0 || isResult(message)) moved.push(message)
    else {
      moved.push(...beforeNext(waiting, message))
      waiting = []
    }
  }
  return waiting.length === 0 ? moved : [...moved, { role: 'user', parts: waiting }]
}

function isResult(message: Message): boolean {
  return message.role === 'tool'
}

function hasMedia(message: Message): message is ToolMessage {
  return message.role === 'tool' && message.parts.some(isMedia)
}

/** Parts in the form of another protocol are ignored where they are. */
function isMedia(part: Part): boolean {
  return part.type === 'image' || (part.type === 'foreign' && part.protocol === undefined)
}

function mediaOf({ callId, parts }: ToolMessage): readonly Part[] {
  return [
    { type: 'text', text: `Attachments of the result of tool call ${callId}:` },
    ...parts.filter(isMedia),
  ]
}

/** A result without text would look like a call without a result. */
function textOf({ parts }: ToolMessage): readonly Part[] {
  const others = parts.filter((part) => !isMedia(part))
  return others.length > 0 ? others : [{ type: 'text', text: 'The result is attached to the next message.' }]
}

/** Some models reject two user messages in a row. */
function beforeNext(parts: readonly Part[], next: Message): readonly Message[] {
  if (next.role === 'user') return [{ ...next, parts: [...parts, ...next.parts] }]
  return [{ role: 'user', parts }, next]
}
