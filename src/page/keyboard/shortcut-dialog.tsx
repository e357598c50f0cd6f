import { Dialog } from '../components/dialog.tsx'
import { useShortcutList } from './shortcuts.tsx'

/** The list of the shortcuts of what is shown now. */
export function ShortcutDialog({ onClose }: { readonly onClose: () => void }) {
  const shortcuts = useShortcutList()
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, label }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
