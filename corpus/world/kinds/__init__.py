"""The kinds of subjects in a district, in the order in which they are written. A new kind is one file and one line."""

from corpus.world.kind import Kind
from corpus.world.kinds.bridge import BRIDGE
from corpus.world.kinds.bylaw import BYLAW
from corpus.world.kinds.festival import FESTIVAL
from corpus.world.kinds.guild import GUILD
from corpus.world.kinds.hill import HILL
from corpus.world.kinds.inn import INN
from corpus.world.kinds.library import LIBRARY
from corpus.world.kinds.scholar import SCHOLAR
from corpus.world.kinds.ship import SHIP
from corpus.world.kinds.town import TOWN

KINDS: tuple[Kind, ...] = (TOWN, SHIP, INN, GUILD, BRIDGE, FESTIVAL, BYLAW, SCHOLAR, HILL, LIBRARY)
