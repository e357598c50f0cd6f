import { parseJson } from '../../../lib/json/json.ts'
import type { Parameters } from '../../api/generate.ts'
import { Checkbox, SelectField, TextArea, TextField } from '../../components/field.tsx'

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
      <NumberFields parameters={parameters} set={set} />
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

const numbers = [
  { name: 'temperature', label: 'Temperature', inputMode: 'decimal', placeholder: '0 to 2' },
  { name: 'maxTokens', label: 'Max. tokens', inputMode: 'numeric', placeholder: 'no limit' },
] as const

function NumberFields(props: {
  readonly parameters: Parameters
  readonly set: (change: Partial<Parameters>) => void
}) {
  const { parameters, set } = props
  return (
    <div class="parameter-pair">
      {numbers.map(({ name, ...field }) => (
        <TextField
          key={name}
          {...field}
          value={parameters[name]}
          onInput={(text) => set({ [name]: text })}
          error={numberProblem(parameters[name])}
        />
      ))}
    </div>
  )
}

function numberProblem(text: string): string | undefined {
  return text.trim() !== '' && Number.isNaN(Number(text.replace(',', '.'))) ? 'Not a number.' : undefined
}

function schemaProblem(text: string): string | undefined {
  return text.trim() === '' || parseJson(text) !== undefined ? undefined : 'Not valid JSON.'
}
