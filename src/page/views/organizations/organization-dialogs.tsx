import { useState } from 'preact/hooks'
import { parseUsd } from '../../../lib/usd.ts'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { useToast } from '../../components/toast.tsx'
import { useAdminApi } from '../../session.tsx'
import {
  type Billing,
  exactUsd,
  type LimitField,
  limitFields,
  limitLabels,
  type Organization,
  organizationPath,
} from './organization.tsx'

type DialogProps = {
  readonly organization: Organization
  readonly onClose: () => void
  /** Called after the change. */
  readonly onChanged: () => void
}

/** Creates an organization. */
export function CreateOrganization(props: {
  readonly onClose: () => void
  readonly onCreated: (created: Organization) => void
}) {
  const admin = useAdminApi()
  const [name, setName] = useState('')
  const form = useOrganizationForm()
  const create = async () => {
    const body = { name: name.trim(), ...form.change() }
    props.onCreated(await admin.send<Organization>('POST', '/admin/organizations', body))
  }
  return (
    <FormDialog
      title="Create an organization"
      action="Create"
      ready={name.trim() !== '' && form.change() !== undefined}
      onClose={props.onClose}
      onSubmit={create}
    >
      <TextField
        label="Name"
        value={name}
        onInput={setName}
        hint="1 to 64 letters, digits, spaces, dots, dashes or underscores."
      />
      <OrganizationFields form={form} />
    </FormDialog>
  )
}

/** Changes the billing and the limits of an organization. */
export function EditOrganization({ organization, onClose, onChanged }: DialogProps) {
  const admin = useAdminApi()
  const form = useOrganizationForm(organization)
  const save = async () => {
    await admin.send('POST', organizationPath(organization.id), form.change())
    onChanged()
    onClose()
  }
  return (
    <FormDialog
      title={`Edit ${organization.name}`}
      action="Save"
      ready={form.change() !== undefined}
      onClose={onClose}
      onSubmit={save}
    >
      <OrganizationFields form={form} />
    </FormDialog>
  )
}

/** Adds credit to the balance, or subtracts it. The amount stays a decimal text: a float would round it. */
export function AddCredit({ organization, onClose, onChanged }: DialogProps) {
  const admin = useAdminApi()
  const toast = useToast()
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const usd = amount.trim()
  const nanos = parseUsd(usd)
  const send = async () => {
    const body = { amount: usd, ...(note.trim() !== '' && { note: note.trim() }) }
    const path = `${organizationPath(organization.id)}/credit`
    const { balance_usd } = await admin.send<Organization>('POST', path, body)
    toast(`The balance is now ${exactUsd(balance_usd)}.`)
    onChanged()
    onClose()
  }
  return (
    <FormDialog
      title={`Add credit to ${organization.name}`}
      action={nanos !== undefined && nanos < 0n ? 'Subtract credit' : 'Add credit'}
      ready={nanos !== undefined && nanos !== 0n}
      onClose={onClose}
      onSubmit={send}
    >
      <p>
        The balance is <strong class="number">{exactUsd(organization.balance_usd)}</strong>.
      </p>
      <TextField
        label="Amount in USD"
        inputMode="decimal"
        placeholder="12.50"
        value={amount}
        onInput={setAmount}
        hint="At most nine decimals. A negative amount subtracts."
        error={usd !== '' && nanos === undefined ? 'Enter a decimal number such as 12.50.' : undefined}
      />
      <TextField label="Note" placeholder="Invoice 7" value={note} onInput={setNote} />
    </FormDialog>
  )
}

/** Deletes an organization, once its name is typed. */
export function DeleteOrganization({ organization, onClose, onChanged }: DialogProps) {
  const admin = useAdminApi()
  const [typed, setTyped] = useState('')
  const remove = async () => {
    await admin.send('DELETE', organizationPath(organization.id))
    onChanged()
  }
  return (
    <FormDialog
      title={`Delete ${organization.name}`}
      action="Delete"
      kind="danger"
      ready={typed === organization.name}
      onClose={onClose}
      onSubmit={remove}
    >
      <p>
        Its API keys stop working at once, and its stored completions and responses are deleted. This cannot
        be undone.
      </p>
      <TextField label={`Type “${organization.name}” to confirm`} value={typed} onInput={setTyped} />
    </FormDialog>
  )
}

const billingOptions: readonly { readonly value: Billing; readonly label: string }[] = [
  { value: 'unmetered', label: 'Unmetered: costs are recorded only' },
  { value: 'prepaid', label: 'Prepaid: requests are paid from the balance' },
  { value: 'none', label: 'None: requests to models are rejected' },
]

/** The fields of billing and limits. */
function OrganizationFields({ form }: { readonly form: ReturnType<typeof useOrganizationForm> }) {
  return (
    <>
      <SelectField label="Billing" value={form.billing} options={billingOptions} onChange={form.setBilling} />
      <fieldset class="field-row">
        <legend>Rate limits. An empty field keeps the default of the settings.</legend>
        {limitFields.map((field) => (
          <TextField
            key={field}
            label={limitLabels[field]}
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

/**
 * The billing and the limits of a new organization, or of one that is edited: an empty limit is that of the settings.
 */
function useOrganizationForm(edited?: Organization) {
  const [billing, setBilling] = useState<Billing>(edited?.billing ?? 'unmetered')
  const [texts, setTexts] = useState(() => byField((field) => String(edited?.[field] ?? '')))
  const isValid = (field: LimitField) => parseLimit(texts[field]) !== undefined
  return {
    billing,
    texts,
    setBilling,
    setLimit: (field: LimitField, text: string) => setTexts({ ...texts, [field]: text }),
    /** The problem of a limit. */
    problem: (field: LimitField) =>
      isValid(field) ? undefined : 'Enter a whole number above 0, or nothing.',
    /** The fields of a request that changes them; undefined if one is invalid. */
    change: () =>
      limitFields.every(isValid)
        ? { billing, ...byField((field) => parseLimit(texts[field]) ?? null) }
        : undefined,
  }
}

function byField<Value>(valueOf: (field: LimitField) => Value): Readonly<Record<LimitField, Value>> {
  return {
    requests_per_minute: valueOf('requests_per_minute'),
    tokens_per_minute: valueOf('tokens_per_minute'),
    concurrent_requests: valueOf('concurrent_requests'),
  }
}

/** Returns null for no limit, and undefined for a text that is none. */
function parseLimit(text: string): number | null | undefined {
  const digits = text.trim()
  if (digits === '') return null
  const limit = /^\d+$/.test(digits) ? Number(digits) : 0
  return limit > 0 && Number.isSafeInteger(limit) ? limit : undefined
}
