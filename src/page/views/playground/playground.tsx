import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Prices } from '../../api/answer.ts'
import type { ApiClient } from '../../api/client.ts'
import { defaultParameters, type PlaygroundMessage } from '../../api/generate.ts'
import type { Model } from '../../api/objects.ts'
import { loadList } from '../../api/pages.ts'
import { useResource } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { Combobox, type ComboboxOption } from '../../components/combobox.tsx'
import { Empty, Loaded, ViewHeader } from '../../components/view.tsx'
import { useKept } from '../../kept.ts'
import { type PageRoute, replaceQuery } from '../../route.ts'
import { useApi } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { CodeDialog, type CodeChoice, codeChoices } from './code-dialog.tsx'
import { Composer } from './composer.tsx'
import { ParameterPanel } from './parameter-panel.tsx'
import { isConversational } from './snippets.ts'
import { TurnView } from './turn-view.tsx'
import { useConversation, useFollowEnd } from './use-conversation.ts'

/** The playground: sends a conversation to one model or two, and shows the streamed answers. */
export function Playground({ query }: PageRoute) {
  const api = useApi()
  const resource = useResource((signal) => loadModels(api, signal), [api])
  return (
    <>
      {resource.value === undefined && <ViewHeader title="Playground" />}
      <Loaded resource={resource} lines={6}>
        {(models) =>
          models.length === 0 ? (
            <Empty
              title="No models are enabled"
              text="Set the API key of a provider, such as OPENAI_API_KEY, and restart the gateway."
            />
          ) : (
            <Workbench models={models} query={query} />
          )
        }
      </Loaded>
    </>
  )
}

/** The models that can take part in a conversation. */
async function loadModels(api: ApiClient, signal: AbortSignal): Promise<readonly Model[]> {
  const models = await loadList<Model>(api, '/v1/models', signal)
  return models.filter(isConversational)
}

type ChosenModels = { readonly first: string; readonly second?: string | undefined }

/** The models are in the address; if it names none, they are those that were chosen last. */
function useChosenModels(models: readonly Model[], query: URLSearchParams) {
  const [last, keep] = useKept<ChosenModels>('playground.models', { first: models[0]?.slug ?? '' })
  const named = query.get('model')
  const first = named ?? last.first
  const second = query.get('compare') ?? (named === null ? last.second : undefined)
  useEffect(() => keep({ first, second }), [first, second])
  return {
    first,
    second,
    all: second === undefined ? [first] : [first, second],
    setFirst: (model: string) => replaceQuery({ model, compare: second }),
    setSecond: (compare: string | undefined) => replaceQuery({ model: first, compare }),
  }
}

function Workbench(props: { readonly models: readonly Model[]; readonly query: URLSearchParams }) {
  const { models } = props
  const chosen = useChosenModels(models, props.query)
  const [parameters, setParameters] = useKept('playground.parameters', defaultParameters)
  const conversation = useConversation(useApi(), chosen.all, parameters)
  const written = useRef<PlaygroundMessage>(undefined)
  const scroll = useFollowEnd()
  useShortcut('n', 'New conversation', conversation.clear)
  const pricesOf = (slug: string) => models.find((model) => model.slug === slug)?.pricing ?? null
  const efforts = models.find(({ slug }) => slug === chosen.first)?.reasoning?.supported_efforts ?? []
  return (
    <div class="playground">
      <div class="playground-head">
        <Header models={models} chosen={chosen} conversation={conversation} written={written} />
      </div>
      <div class="conversation">
        {conversation.turns.length === 0 && <Welcome />}
        {conversation.turns.map((turn) => (
          <TurnView key={turn.id} turn={turn} pricesOf={pricesOf} onChange={scroll.follow} />
        ))}
        <Composer
          busy={conversation.busy}
          disabled={chosen.all.includes('')}
          written={written}
          onStop={conversation.stop}
          onSend={(message) => {
            scroll.resume()
            conversation.send(message)
          }}
        />
      </div>
      <aside aria-label="Parameters">
        <details open={!matchMedia('(max-width: 1080px)').matches}>
          <summary>Parameters</summary>
          <ParameterPanel parameters={parameters} efforts={efforts} onChange={setParameters} />
        </details>
      </aside>
    </div>
  )
}

function Header(props: {
  readonly models: readonly Model[]
  readonly chosen: ReturnType<typeof useChosenModels>
  readonly conversation: ReturnType<typeof useConversation>
  readonly written: { readonly current: PlaygroundMessage | undefined }
}) {
  const { models, chosen, conversation, written } = props
  const { first, second } = chosen
  const { turns, busy } = conversation
  const [code, setCode] = useState<readonly CodeChoice[]>()
  const options = useMemo(() => models.map(toOption), [models])
  const other = models.find(({ slug }) => slug !== first)?.slug ?? first
  return (
    <>
      <ViewHeader title="Playground">
        <Button
          label="Code"
          icon="copy"
          onClick={() => setCode(codeChoices(conversation, written.current))}
        />
        {turns.length > 0 && !busy && <Button label="Retry" icon="retry" onClick={conversation.retry} />}
        {turns.length > 0 && <Button label="New" icon="plus" onClick={conversation.clear} />}
        <Button
          label="Compare"
          icon="columns"
          pressed={second !== undefined}
          onClick={() => chosen.setSecond(second === undefined ? other : undefined)}
        />
      </ViewHeader>
      <div class="model-row">
        <Combobox label="Model" value={first} options={options} onChange={chosen.setFirst} />
        {second !== undefined && (
          <Combobox label="Second model" value={second} options={options} onChange={chosen.setSecond} />
        )}
      </div>
      {code && <CodeDialog choices={code} onClose={() => setCode(undefined)} />}
    </>
  )
}

/** A model as an option of a combobox, with its prices for a million tokens. */
function toOption({ slug, pricing }: Model): ComboboxOption {
  return { value: slug, detail: priceLabel(pricing) }
}

function priceLabel(pricing: Prices | null): string {
  if (pricing?.input == null) return 'no price'
  return pricing.input === 0 && !pricing.output ? 'free' : `$${pricing.input} / $${pricing.output ?? 0}`
}

function Welcome() {
  return (
    <div class="state welcome">
      <p class="quiet">
        Messages go to the gateway with your key, and are billed like any other request. Answers are only
        stored if you enable “Store the answer”.
      </p>
    </div>
  )
}
