"""First names. People share them; family names are unique and come from `names`."""

from __future__ import annotations

from corpus.world.lists import listed

WOMEN = listed("""
    Adela, Brisa, Corinna, Delphine, Edda, Fenna, Gisela, Hedda, Ilse, Jorun, Katrin, Lavinia, Maren, Nerys,
    Odile, Petra, Runa, Sabine, Tamsin, Ursula, Verena, Wilma, Yrsa, Zelda, Agatha, Beatrix, Clemence, Dorothea,
    Elspeth, Flora, Greta, Harriet, Isolde, Juno
""")
MEN = listed("""
    Anselm, Bastian, Caspar, Dunstan, Emeric, Florian, Gideon, Hannes, Ivo, Jasper, Konrad, Leopold, Matthias,
    Norbert, Osric, Piers, Quentin, Rufus, Silas, Tobias, Ulric, Valentin, Wendel, Yorick, Abel, Barnaby, Cosmo,
    Dietrich, Edmund, Fergus, Gregor, Hugo, Jonas
""")
