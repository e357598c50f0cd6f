import { useState } from 'preact/hooks'
import { parseUsd } from '../../../lib/usd.ts'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { exactUsd } from '../../components/format.ts'
import { useToast } from '../../components/toast.tsx'
import { useAdminApi } from '../../session.tsx'
import { LimitFields, useLimitForm } from './limit-fields.tsx'
import { sendChange } from './limits.ts'
import { type Billing, type Organization, organizationPath } from './organization.tsx'

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
    const body = { name: name.trim(), ...form.fields }
    props.onCreated(await admin.send<Organization>('POST', '/admin/organizations', body))
  }
  return (
    <FormDialog
      title="Create an organization"
      action="Create"
      ready={name.trim() !== '' && form.fields !== undefined}
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
    await sendChange(admin, organizationPath(organization.id), organization, form.fields)
    onChanged()
    onClose()
  }
  return (
    <FormDialog
      title={`Edit ${organization.name}`}
      action="Save"
      ready={form.fields !== undefined}
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
