import { useMutation } from '@tanstack/react-query'
import { useFavourites } from '../../../facts/favourites.ts'
import { Icon } from '../../../parts/icon.tsx'

/** For oneself: any role may have favourites. */
export function FavouriteButton({ tableId }: { tableId: string }) {
  const { ids, toggle } = useFavourites()
  const change = useMutation({ mutationFn: () => toggle(tableId) })
  const isOn = ids.includes(tableId)
  return (
    <button
      type="button"
      className="button icon ghost small"
      aria-pressed={isOn}
      aria-label="Favourite"
      title={isOn ? 'Remove from your favourites' : 'Add to your favourites'}
      disabled={change.isPending}
      onClick={() => change.mutate()}
    >
      <Icon name={isOn ? 'star-full' : 'star'} />
    </button>
  )
}
