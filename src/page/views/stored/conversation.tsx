import { useState } from 'preact/hooks'
import { fieldsOf, listOf } from '../../../lib/json/json.ts'
import { Button, CodeBlock } from '../../components/button.tsx'
import { formatCount, prettyJson, visibleText } from '../../components/format.ts'
import { GrowingMarkdown } from '../../components/growing-markdown.tsx'

/** A part of the content of a message. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'other'; readonly value: unknown }

/** An entry of a conversation, of completions and of responses. */
export type Entry =
  | { readonly kind: 'message'; readonly role: string; readonly parts: readonly Part[] }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: string }
  | { readonly kind: 'result'; readonly call: string; readonly parts: readonly Part[] }
  | { readonly kind: 'other'; readonly value: unknown }

/** The entries of a conversation, in their order. What a model said is Markdown, everything else is plain text. */
export function Conversation(props: { readonly label: string; readonly entries: readonly Entry[] }) {
  return (
    <ol class="stack stored-conversation" aria-label={props.label}>
      {props.entries.map((entry, index) => (
        <li key={index}>
          <EntryView entry={entry} />
        </li>
      ))}
    </ol>
  )
}

function EntryView({ entry }: { readonly entry: Entry }) {
  switch (entry.kind) {
    case 'message':
      return (
        <section class={entry.role === 'assistant' ? 'entry role-assistant' : 'entry'}>
          <h2>{visibleText(entry.role)}</h2>
          <Parts parts={entry.parts} markdown={entry.role === 'assistant'} />
        </section>
      )
    case 'reasoning':
      return <ReasoningEntry text={entry.text} />
    case 'call':
      return (
        <section class="entry">
          <h2>
            Tool call <code>{visibleText(entry.name)}</code>
          </h2>
          <CodeBlock code={visibleText(prettyJson(entry.input))} label="arguments" />
        </section>
      )
    case 'result':
      return (
        <section class="entry">
          <h2>
            Tool result <code>{visibleText(entry.call)}</code>
          </h2>
          <Parts parts={entry.parts} markdown={false} />
        </section>
      )
    case 'other':
      return <OtherEntry value={entry.value} />
  }
}

function ReasoningEntry({ text }: { readonly text: string }) {
  const [open, setOpen] = useState(false)
  if (text === '') return <p class="quiet">Reasoning, whose text was not sent.</p>
  return (
    <details class="entry" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Reasoning</summary>
      {open && <LongText text={text} markdown />}
    </details>
  )
}

function OtherEntry({ value }: { readonly value: unknown }) {
  return (
    <section class="entry">
      <h2>Other item</h2>
      <CodeBlock code={visibleText(JSON.stringify(value, null, 2))} label="item" />
    </section>
  )
}

function Parts({ parts, markdown }: { readonly parts: readonly Part[]; readonly markdown: boolean }) {
  return (
    <>
      {parts.map((part, index) => {
        if (part.kind === 'text') return <LongText key={index} text={part.text} markdown={markdown} />
        if (part.kind === 'image') return <Image key={index} url={part.url} />
        return <OtherEntry key={index} value={part.value} />
      })}
    </>
  )
}

/** Characters. Longer texts are shown in full on demand only. */
const maxShown = 50_000

function LongText({ text, markdown }: { readonly text: string; readonly markdown: boolean }) {
  const [whole, setWhole] = useState(false)
  const shown = whole ? text : text.slice(0, maxShown)
  return (
    <>
      {markdown ? (
        <GrowingMarkdown text={shown} />
      ) : (
        <p class="plain-text" dir="auto">
          {visibleText(shown)}
        </p>
      )}
      {shown.length < text.length && (
        <Button label={`Show all ${formatCount(text.length)} characters`} onClick={() => setWhole(true)} />
      )}
    </>
  )
}

/** An image that is part of the request; one of another server is not loaded. */
function Image({ url }: { readonly url: string }) {
  if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(url))
    return <img src={url} alt="Image of the message" />
  return (
    <p class="quiet">
      Image: <code>{visibleText(url.slice(0, 500))}</code>
    </p>
  )
}

/** The entries of a message of a completion: its reasoning, its content, its tool calls. */
export function messageEntries(message: unknown): readonly Entry[] {
  const { role, content, reasoning, tool_calls: calls, tool_call_id: call } = fieldsOf(message)
  const parts = partsOf(content)
  if (role === 'tool') return [{ kind: 'result', call: textOf(call), parts }]
  return [
    ...(textOf(reasoning) === '' ? [] : [{ kind: 'reasoning', text: textOf(reasoning) } as const]),
    ...(parts.length === 0 ? [] : [{ kind: 'message', role: textOf(role), parts } as const]),
    ...listOf(calls).map(callEntry),
  ]
}

function callEntry(call: unknown): Entry {
  const { name, arguments: input } = fieldsOf(fieldsOf(call).function)
  return { kind: 'call', name: textOf(name), input: textOf(input) }
}

/** The entry of an input or output item of a response. */
export function itemEntry(item: unknown): Entry {
  const fields = fieldsOf(item)
  const { type, role, content, summary, name, call_id: call, output } = fields
  switch (type) {
    case 'message':
      return { kind: 'message', role: textOf(role), parts: partsOf(content) }
    case 'reasoning':
      return { kind: 'reasoning', text: partTexts(summary) || partTexts(content) }
    case 'function_call':
      return { kind: 'call', name: textOf(name), input: textOf(fields.arguments) }
    case 'custom_tool_call':
      return { kind: 'call', name: textOf(name), input: textOf(fields.input) }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { kind: 'result', call: textOf(call), parts: partsOf(output) }
    default:
      return { kind: 'other', value: item }
  }
}

function partTexts(parts: unknown): string {
  return listOf(parts)
    .map((part) => textOf(fieldsOf(part).text))
    .join('\n\n')
}

/** The parts of a content, which may be text alone. */
function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return listOf(content).map(partOf)
}

function partOf(part: unknown): Part {
  const { text, refusal, image_url: image } = fieldsOf(part)
  if (typeof text === 'string') return { kind: 'text', text }
  if (typeof refusal === 'string') return { kind: 'text', text: refusal }
  const url = typeof image === 'string' ? image : fieldsOf(image).url
  return typeof url === 'string' ? { kind: 'image', url } : { kind: 'other', value: part }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
