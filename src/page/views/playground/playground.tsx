import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { defaultParameters } from '../../generation/request-body.ts'
import { useShortcut } from '../../keyboard/shortcuts.tsx'
import { replaceQuery } from '../../routing/route.ts'
import { useApi } from '../../session/session.tsx'
import type { View, ViewProps } from '../view.ts'
import { Composer } from './composer.tsx'
import { useFollowEnd } from './follow-end.ts'
import { ParameterPanel } from './parameter-panel.tsx'
import { SnippetsDialog } from './snippets-dialog.tsx'
import { TurnView } from './turn-view.tsx'
import { history, useConversation } from './use-conversation.ts'
import { type PlaygroundModel, useModelOptions, useModels } from './use-models.ts'

/** The playground: sends a conversation to one model or two, and shows the streamed answers. */
export const playground: View = {
  id: 'playground',
  title: 'Playground',
  icon: 'playground',
  section: 'organization',
  needs: 'apiKey',
  shortcut: 'p',
  component: Playground,
}

function Playground({ query }: ViewProps) {
  const resource = useModels()
  return (
    <>
      {resource.value === undefined && <ViewHeader title="Playground" />}
      <Loaded resource={resource}>
        {(models) =>
          models.length === 0 ? (
            <Empty title="No models are enabled">
              <p>Set the API key of a provider, such as OPENAI_API_KEY, and restart the gateway.</p>
            </Empty>
          ) : (
            <Workbench models={models} query={query} />
          )
        }
      </Loaded>
    </>
  )
}

/** The second model of a comparison is in the address, as the first one. */
function useChosenModels(models: readonly PlaygroundModel[], query: URLSearchParams) {
  const first = query.get('model') ?? models[0]?.id ?? ''
  const second = query.get('compare') ?? undefined
  return {
    first,
    second,
    all: second === undefined ? [first] : [first, second],
    setFirst: (model: string) => replaceQuery({ model, compare: second }),
    setSecond: (compare: string | undefined) => replaceQuery({ model: first, compare }),
  }
}

function Workbench(props: { readonly models: readonly PlaygroundModel[]; readonly query: URLSearchParams }) {
  const { models } = props
  const chosen = useChosenModels(models, props.query)
  const [parameters, setParameters] = useState(defaultParameters)
  const conversation = useConversation(useApi(), chosen.all, parameters)
  const scroll = useFollowEnd()
  useShortcut('n', 'New conversation', conversation.clear)
  const pricesOf = (id: string) => models.find((model) => model.id === id)?.pricing ?? null
  const efforts = models.find(({ id }) => id === chosen.first)?.reasoning?.supported_efforts ?? []
  return (
    <div class="playground">
      <div class="conversation">
        <Header models={models} chosen={chosen} parameters={parameters} conversation={conversation} />
        {conversation.turns.length === 0 && <Welcome />}
        {conversation.turns.map((turn) => (
          <TurnView key={turn.id} turn={turn} pricesOf={pricesOf} onChange={scroll.follow} />
        ))}
        <Composer
          busy={conversation.busy}
          disabled={chosen.all.includes('')}
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
  readonly models: readonly PlaygroundModel[]
  readonly chosen: ReturnType<typeof useChosenModels>
  readonly parameters: typeof defaultParameters
  readonly conversation: ReturnType<typeof useConversation>
}) {
  const { chosen, conversation, parameters } = props
  const [code, setCode] = useState(false)
  const options = useModelOptions(props.models)
  const messages = history(conversation.turns, 0)
  const example = { role: 'user' as const, text: 'Hello from Weir' }
  const request = { model: chosen.first, parameters, messages: messages.length > 0 ? messages : [example] }
  const other = props.models.find(({ id }) => id !== chosen.first)?.id ?? chosen.first
  return (
    <>
      <Actions chosen={chosen} other={other} conversation={conversation} onCode={() => setCode(true)} />
      <div class="model-row">
        <Combobox label="Model" value={chosen.first} options={options} onChange={chosen.setFirst} />
        {chosen.second !== undefined && (
          <Combobox
            label="Second model"
            value={chosen.second}
            options={options}
            onChange={chosen.setSecond}
          />
        )}
      </div>
      {code && <SnippetsDialog request={request} onClose={() => setCode(false)} />}
    </>
  )
}

function Actions(props: {
  readonly chosen: ReturnType<typeof useChosenModels>
  /** The model that a comparison begins with. */
  readonly other: string
  readonly conversation: ReturnType<typeof useConversation>
  readonly onCode: () => void
}) {
  const { chosen, conversation } = props
  return (
    <ViewHeader title="Playground">
      <Button label="Code" icon="copy" onClick={props.onCode} />
      {conversation.turns.length > 0 && !conversation.busy && (
        <Button label="Retry" icon="retry" onClick={conversation.retry} />
      )}
      {conversation.turns.length > 0 && <Button label="New" icon="plus" onClick={conversation.clear} />}
      <Button
        label="Compare"
        icon="columns"
        pressed={chosen.second !== undefined}
        onClick={() => chosen.setSecond(chosen.second === undefined ? props.other : undefined)}
      />
    </ViewHeader>
  )
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
