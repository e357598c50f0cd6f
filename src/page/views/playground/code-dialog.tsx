import { useState } from 'preact/hooks'
import { messageOf } from '../../api/failure.ts'
import type { GenerationRequest, PlaygroundMessage } from '../../api/generate.ts'
import { CodeBlock } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { SelectField } from '../../components/field.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { exampleMessage, type Snippet, snippetsOf } from './snippets.ts'
import type { useConversation } from './use-conversation.ts'

/** A request that can be shown as code. */
export type CodeChoice = { readonly label: string; readonly request: GenerationRequest }

type Conversation = Pick<ReturnType<typeof useConversation>, 'turns' | 'busy' | 'requestsFor'>

/**
 * The requests of a conversation: the one that “Send” would send now, the last one that was sent, and that of “Retry” where
 * the models or the parameters have changed since; one for each model.
 */
export function codeChoices(
  { turns, busy, requestsFor }: Conversation,
  written: PlaygroundMessage | undefined,
): readonly CodeChoice[] {
  const last = turns.at(-1)
  if (last === undefined) return choicesOf('Next request', requestsFor(written ?? exampleMessage))
  const sent = last.calls.map(({ request }) => request)
  // What is sent next depends on an answer that is not complete.
  if (busy) return choicesOf('Last request', sent)
  const known = new Set(sent.map((request) => JSON.stringify(request)))
  const retried = requestsFor(last.message, turns.slice(0, -1))
  return [
    ...(written === undefined ? [] : choicesOf('Next request', requestsFor(written))),
    ...choicesOf('Last request', sent),
    ...choicesOf(
      'Retry',
      retried.filter((request) => !known.has(JSON.stringify(request))),
    ),
  ]
}

function choicesOf(what: string, requests: readonly GenerationRequest[]): readonly CodeChoice[] {
  return requests.map((request) => ({ label: `${what} to ${request.model}`, request }))
}

/** Shows one of the requests as code, to be copied. */
export function CodeDialog(props: { readonly choices: readonly CodeChoice[]; readonly onClose: () => void }) {
  const { choices, onClose } = props
  const [selected, setSelected] = useState('0')
  const choice = choices[Number(selected)]
  const { snippets, problem } = trySnippets(choice?.request)
  return (
    <Dialog
      title={choices.length === 1 ? `${choice?.label} as code` : 'The request as code'}
      onClose={onClose}
    >
      {choices.length > 1 && (
        <SelectField
          label="Request"
          value={selected}
          options={choices.map(({ label }, index) => ({ value: String(index), label }))}
          onChange={setSelected}
        />
      )}
      {choice?.request.messages.at(-1) === exampleMessage && (
        <p class="quiet">The message is an example until you write one.</p>
      )}
      {problem === undefined ? <SnippetTabs snippets={snippets} /> : <p>{problem}</p>}
    </Dialog>
  )
}

/** The parameters may be incomplete. */
function trySnippets(request: GenerationRequest | undefined): {
  readonly snippets: readonly Snippet[]
  readonly problem?: string
} {
  if (request === undefined) return { snippets: [] }
  try {
    return { snippets: snippetsOf(request, location.origin) }
  } catch (error) {
    return { snippets: [], problem: messageOf(error) }
  }
}

/** A request in several languages. Long images are shown shortened, and copied as they are. */
export function SnippetTabs({ snippets }: { readonly snippets: readonly Snippet[] }) {
  const [selected, setSelected] = useState('curl')
  const snippet = snippets.find(({ id }) => id === selected) ?? snippets[0]
  if (snippet === undefined) return null
  const shown = shortenImages(snippet.code)
  return (
    <>
      <Tabs label="Language" tabs={snippets} selected={snippet.id} onSelect={setSelected}>
        <CodeBlock code={snippet.code} shown={shown} label={snippet.label} />
      </Tabs>
      <p class="quiet">
        The code reads the key from the environment variable WEIR_API_KEY.
        {shown !== snippet.code && ' Images are shortened here, and copied in full.'}
      </p>
    </>
  )
}

/** The data of an image from this many characters on is not shown. */
const longImage = /(data:image\/[\w.+-]+;base64,)[A-Za-z0-9+/=]{120,}/g

function shortenImages(code: string): string {
  return code.replaceAll(longImage, '$1…')
}
