import { useState } from 'preact/hooks'
import { Button, CodeBlock } from '../../components/button.tsx'
import { formatCount, prettyJson, visibleText } from '../../components/format.ts'
import { GrowingMarkdown } from '../../components/growing-markdown.tsx'
import type { Entry, Part } from './entries.ts'

/** The entries of a conversation, in their order. What a model said is Markdown, everything else is plain text. */
export function Conversation(props: { readonly label: string; readonly entries: readonly Entry[] }) {
  return (
    <ol class="stored-conversation" aria-label={props.label}>
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
        <section class={`entry role-${entry.role === 'assistant' ? 'assistant' : 'other'}`}>
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
