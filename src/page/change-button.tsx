import { Button, type ButtonProps } from './components/button.tsx'
import { useSession } from './session.tsx'

/** A button with which an operator changes the gateway: disabled, with the reason, where the admin key may only read. */
export function ChangeButton(props: ButtonProps) {
  return useSession().may('write') ? (
    <Button {...props} />
  ) : (
    <Button {...props} disabled reason={readOnlyReason} />
  )
}

/** Why an operator cannot change anything, and the remedy. */
export const readOnlyReason =
  'This admin key may only read. To create one that also changes the gateway, run on the machine of the gateway: weir admin-keys create'
