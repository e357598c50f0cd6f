import { Checkbox, SelectField, TextArea, TextField } from '../../components/field.tsx'
import type { Parameters } from '../../generation/request-body.ts'

const apis = [
  { value: 'chat', label: 'Chat Completions' },
  { value: 'responses', label: 'Responses' },
] as const

const allEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']

/** The parameters of the next request. */
export function ParameterPanel(props: {
  readonly parameters: Parameters
  /** Those that the chosen model supports; empty if it is not known. */
  readonly efforts: readonly string[]
  readonly onChange: (parameters: Parameters) => void
}) {
  const { parameters, efforts, onChange } = props
  const set = (change: Partial<Parameters>) => onChange({ ...parameters, ...change })
  const effortOptions = [
    { value: '', label: 'Default of the model' },
    ...(efforts.length > 0 ? efforts : allEfforts).map((effort) => ({ value: effort, label: effort })),
  ]
  return (
    <div class="parameters">
      <SelectField label="API" value={parameters.api} options={apis} onChange={(api) => set({ api })} />
      <TextArea
        label="System prompt"
        value={parameters.system}
        onInput={(system) => set({ system })}
        placeholder="You are a helpful assistant."
      />
      <NumberPair parameters={parameters} set={set} />
      <SelectField
        label="Reasoning effort"
        value={parameters.effort}
        options={effortOptions}
        onChange={(effort) => set({ effort })}
      />
      <TextArea
        label="JSON Schema of the answer"
        value={parameters.schema}
        onInput={(schema) => set({ schema })}
        placeholder={'{"type": "object", …}'}
        error={schemaProblem(parameters.schema)}
      />
      <Checkbox label="Store the answer" checked={parameters.store} onChange={(store) => set({ store })} />
    </div>
  )
}

function NumberPair(props: {
  readonly parameters: Parameters
  readonly set: (change: Partial<Parameters>) => void
}) {
  const { parameters, set } = props
  return (
    <div class="parameter-pair">
      <TextField
        label="Temperature"
        inputMode="decimal"
        placeholder="0 to 2"
        value={parameters.temperature}
        onInput={(temperature) => set({ temperature })}
        error={numberProblem(parameters.temperature)}
      />
      <TextField
        label="Max. tokens"
        inputMode="numeric"
        placeholder="no limit"
        value={parameters.maxTokens}
        onInput={(maxTokens) => set({ maxTokens })}
        error={numberProblem(parameters.maxTokens)}
      />
    </div>
  )
}

function numberProblem(text: string): string | undefined {
  return text.trim() !== '' && Number.isNaN(Number(text.replace(',', '.'))) ? 'Not a number.' : undefined
}

function schemaProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return 'Not valid JSON.'
  }
}
