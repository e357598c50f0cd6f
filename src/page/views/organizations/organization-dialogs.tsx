import { useState } from 'preact/hooks'
import { parseUsd } from '../../../lib/usd.ts'
import { type DialogHandlers, FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { exactUsd } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { LimitFields, useLimitForm } from './limit-fields.tsx'
import { changeOf, creationOf } from './limits.ts'
import { type Billing, type Organization, organizationPath } from './organization.tsx'

type DialogProps = DialogHandlers<Organization> & { readonly organization: Organization }

/** Creates an organization. */
export function CreateOrganization(handlers: DialogHandlers<Organization>) {
  const [name, setName] = useState('')
  const form = useOrganizationForm()
  const fields = name.trim() === '' ? undefined : form.fields && { name: name.trim(), ...form.fields }
  return (
    <FormDialog<Organization>
      title="Create an organization"
      action="Create"
      change={creationOf('/admin/organizations', fields)}
      {...handlers}
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
export function EditOrganization({ organization, ...handlers }: DialogProps) {
  const form = useOrganizationForm(organization)
  return (
    <FormDialog
      title={`Edit ${organization.name}`}
      action="Save"
      change={changeOf(organizationPath(organization.id), organization, form.fields)}
      {...handlers}
    >
      <OrganizationFields form={form} />
    </FormDialog>
  )
}

/** Adds credit to the balance, or subtracts it. The amount stays a decimal text: a float would round it. */
export function AddCredit({ organization, onClose, onDone }: DialogProps) {
  const toast = useToast()
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const usd = amount.trim()
  const nanos = parseUsd(usd)
  const path = `${organizationPath(organization.id)}/credit`
  const body = { amount: usd, note: note.trim() || undefined }
  return (
    <FormDialog<Organization>
      title={`Add credit to ${organization.name}`}
      action={nanos !== undefined && nanos < 0n ? 'Subtract credit' : 'Add credit'}
      change={nanos ? { method: 'POST', path, body } : undefined}
      onClose={onClose}
      onDone={(changed) => {
        toast(`The balance is now ${exactUsd(changed.balance_usd)}.`)
        onDone(changed)
      }}
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
export function DeleteOrganization({ organization, ...handlers }: DialogProps) {
  const [typed, setTyped] = useState('')
  const path = organizationPath(organization.id)
  return (
    <FormDialog
      title={`Delete ${organization.name}`}
      action="Delete"
      kind="danger"
      change={typed === organization.name ? { method: 'DELETE', path } : undefined}
      {...handlers}
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
function OrganizationFields({ form }: { readonly form: OrganizationForm }) {
  return (
    <>
      <SelectField label="Billing" value={form.billing} options={billingOptions} onChange={form.setBilling} />
      <LimitFields form={form.limits} empty="Default" />
    </>
  )
}

type OrganizationForm = ReturnType<typeof useOrganizationForm>

/** The billing and the limits of a new organization, or of one that is edited. */
function useOrganizationForm(edited?: Organization) {
  const [billing, setBilling] = useState<Billing>(edited?.billing ?? 'unmetered')
  const limits = useLimitForm(edited)
  return {
    billing,
    setBilling,
    limits,
    /** The fields of a request; undefined if one is invalid. */
    fields: limits.fields && { billing, ...limits.fields },
  }
}
