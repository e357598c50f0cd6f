import { SelectField, TextField } from '../../components/field.tsx'
import { billingOptions } from './organization.ts'
import type { LimitField, OrganizationForm } from './organization-form.ts'

const limitLabels: readonly (readonly [LimitField, string])[] = [
  ['requests_per_minute', 'Requests per minute'],
  ['tokens_per_minute', 'Tokens per minute'],
  ['concurrent_requests', 'Requests at once'],
]

/** The fields of billing and limits. */
export function OrganizationFields({ form }: { readonly form: OrganizationForm }) {
  return (
    <>
      <SelectField label="Billing" value={form.billing} options={billingOptions} onChange={form.setBilling} />
      <fieldset class="field-row">
        <legend>Rate limits. An empty field keeps the default of the settings.</legend>
        {limitLabels.map(([field, label]) => (
          <TextField
            key={field}
            label={label}
            inputMode="numeric"
            placeholder="Default"
            value={form.texts[field]}
            onInput={(text) => form.setLimit(field, text)}
            error={form.problem(field)}
          />
        ))}
      </fieldset>
    </>
  )
}
